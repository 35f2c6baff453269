SELECT bidder, count(*), time_bucket(INTERVAL 10 SECONDS, proc_time) AS start,
  time_bucket(INTERVAL 10 SECONDS, proc_time) + INTERVAL 10 SECONDS
FROM bid GROUP BY bidder, start
