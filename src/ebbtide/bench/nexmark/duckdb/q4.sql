WITH final AS (
  SELECT a.id, any_value(a.category) AS category, max(b.price) AS price
  FROM auction a, bid b
  WHERE a.id = b.auction AND b.date_time >= a.date_time AND b.date_time <= a.expires
  GROUP BY a.id
)
SELECT category, avg(price) FROM final GROUP BY category
