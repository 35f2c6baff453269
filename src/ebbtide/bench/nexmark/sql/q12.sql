-- Bids of each bidder in every 10 seconds of the time at which they were received.
SELECT bidder, COUNT(*) AS bid_count, window_start AS start_time, window_end AS end_time
FROM TUMBLE(bid, proc_time, 10 SECONDS)
GROUP BY bidder, window_start, window_end
EMIT FINAL;
