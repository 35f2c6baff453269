-- The average price of the last 10 closed auctions of each seller.
SELECT seller, AVG(final) AS average
FROM (
  SELECT a.id, a.seller, a.expires, MAX(b.price) AS final
  FROM auction AS a
  JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
  GROUP BY a.id, a.seller, a.expires
) [PARTITION BY seller ROWS 10 ON expires] AS closed
GROUP BY seller;
