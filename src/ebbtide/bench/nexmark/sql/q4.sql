-- The average winning price in each category.
SELECT category, AVG(final) AS average
FROM (
  SELECT a.category, MAX(b.price) AS final
  FROM auction AS a
  JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
  GROUP BY a.id, a.category
) AS won
GROUP BY category;
