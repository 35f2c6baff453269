SELECT auction, bidder, price, date_time, extra,
  DATE_FORMAT(date_time, 'yyyy-MM-dd') AS dt, HOUR(date_time) AS h
FROM bid
