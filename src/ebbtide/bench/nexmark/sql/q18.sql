-- The last bid of every bidder on every auction.
SELECT auction, bidder, price, channel, url, date_time, extra
FROM bid [PARTITION BY bidder, auction ROWS 1];
