-- Bids of each session of a bidder.
SELECT bidder, COUNT(*) AS bid_count, window_start AS start_time, window_end AS end_time
FROM SESSION(bid PARTITION BY bidder, date_time, 10 SECONDS)
GROUP BY bidder, window_start, window_end
EMIT FINAL;
