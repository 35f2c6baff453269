SELECT auction, bidder, price, channel, url, date_time, extra,
  row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time) AS place
FROM bid
QUALIFY place <= 10
