SELECT auction, bidder, 0.908 * price::DECIMAL(18, 0), date_time, extra FROM bid
