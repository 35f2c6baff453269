-- Everything to files, by date and hour.
SELECT auction, bidder, price, date_time, extra,
  CAST(date_time AS DATE) AS dt, HOUR(date_time) AS hour
FROM bid;
