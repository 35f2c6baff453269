SELECT channel, date_trunc('day', date_time)::TIMESTAMP AS day,
  date_trunc('minute', max(date_time)),
  count(*),
  sum((price < 10000)::INT), sum((price BETWEEN 10000 AND 999999)::INT), sum((price > 999999)::INT),
  count(DISTINCT bidder),
  count(DISTINCT CASE WHEN price < 10000 THEN bidder END),
  count(DISTINCT CASE WHEN price BETWEEN 10000 AND 999999 THEN bidder END),
  count(DISTINCT CASE WHEN price > 999999 THEN bidder END),
  count(DISTINCT auction),
  count(DISTINCT CASE WHEN price < 10000 THEN auction END),
  count(DISTINCT CASE WHEN price BETWEEN 10000 AND 999999 THEN auction END),
  count(DISTINCT CASE WHEN price > 999999 THEN auction END)
FROM bid GROUP BY channel, day
