SELECT b.auction, b.bidder, b.price, b.date_time, s.value
FROM bid b, side_input s WHERE b.auction % 10000 = s.key
