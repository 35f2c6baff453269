SELECT b.auction, b.price, b.bidder, b.date_time, b.extra
FROM bid AS b
JOIN (
  SELECT MAX(price) AS highest, window_end AS date_time
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end
) AS m ON b.price = m.highest
WHERE b.date_time BETWEEN m.date_time - INTERVAL '10' SECOND AND m.date_time
