WITH hops AS (
  SELECT auction, to_timestamp(2 * k)::TIMESTAMP AS window_start
  FROM (
    SELECT auction, unnest(range(epoch_us(date_time) // 2000000 - 4,
                                 epoch_us(date_time) // 2000000 + 1)) AS k
    FROM bid
  )
), counts AS (
  SELECT auction, window_start, count(*) AS num FROM hops GROUP BY ALL
)
SELECT auction, num, window_start, window_start + INTERVAL 10 SECONDS
FROM counts
QUALIFY num = max(num) OVER (PARTITION BY window_start)
