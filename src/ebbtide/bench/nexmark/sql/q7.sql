-- The highest bid in every 10 seconds.
SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM TUMBLE(bid, date_time, 10 SECONDS) AS b
JOIN (
  SELECT MAX(price) AS highest, window_start, window_end
  FROM TUMBLE(bid, date_time, 10 SECONDS)
  GROUP BY window_start, window_end
) AS m ON b.window_start = m.window_start AND b.window_end = m.window_end AND b.price = m.highest
EMIT FINAL;
