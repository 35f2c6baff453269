SELECT auction, price, bidder, date_time, extra
FROM bid
QUALIFY price = max(price) OVER (PARTITION BY epoch_us(date_time) // 10000000)
