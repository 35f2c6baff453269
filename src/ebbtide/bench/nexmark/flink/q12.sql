SELECT bidder, COUNT(*) AS bid_count, window_start, window_end
FROM TABLE(TUMBLE(TABLE bid_received, DESCRIPTOR(proc_time), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end
