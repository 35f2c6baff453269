SELECT auction, bidder, price, date_time, extra, date_time::DATE, hour(date_time) FROM bid
