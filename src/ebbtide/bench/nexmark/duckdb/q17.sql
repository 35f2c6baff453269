SELECT auction, date_trunc('day', date_time)::TIMESTAMP AS day, count(*),
  sum((price < 10000)::INT), sum((price BETWEEN 10000 AND 999999)::INT), sum((price > 999999)::INT),
  min(price), max(price), avg(price), sum(price)
FROM bid GROUP BY auction, day
