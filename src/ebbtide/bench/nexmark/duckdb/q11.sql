WITH gaps AS (
  SELECT bidder, date_time,
    coalesce(date_time - lag(date_time) OVER w > INTERVAL 10 SECONDS, TRUE) AS opens
  FROM bid WINDOW w AS (PARTITION BY bidder ORDER BY date_time)
), numbered AS (
  SELECT bidder, date_time,
    sum(opens::INT) OVER (PARTITION BY bidder ORDER BY date_time) AS session
  FROM gaps
)
SELECT bidder, count(*), min(date_time), max(date_time) + INTERVAL 10 SECONDS
FROM numbered GROUP BY bidder, session
