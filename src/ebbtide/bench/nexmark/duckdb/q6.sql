WITH final AS (
  SELECT a.id, a.seller, a.expires, max(b.price) AS price
  FROM auction a JOIN bid b ON a.id = b.auction
  WHERE b.date_time BETWEEN a.date_time AND a.expires
  GROUP BY ALL
), recent AS (
  SELECT seller, price FROM final
  QUALIFY row_number() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) <= 10
)
SELECT seller, avg(price) FROM recent GROUP BY seller
