-- The auctions with the most bids in the last 10 seconds, every 2 seconds.
WITH counts AS (
  SELECT auction, window_start, window_end, COUNT(*) AS num
  FROM HOP(bid, date_time, 2 SECONDS, 10 SECONDS)
  GROUP BY auction, window_start, window_end
)
SELECT c.auction, c.num, c.window_start, c.window_end
FROM counts AS c
JOIN (
  SELECT MAX(num) AS most, window_start, window_end FROM counts GROUP BY window_start, window_end
) AS m ON c.window_start = m.window_start AND c.window_end = m.window_end AND c.num = m.most
EMIT FINAL;
