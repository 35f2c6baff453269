SELECT auction, bidder, 0.908 * price::DECIMAL(18, 0),
  CASE
    WHEN hour(date_time) BETWEEN 8 AND 18 THEN 'dayTime'
    WHEN hour(date_time) BETWEEN 7 AND 19 THEN 'otherTime'
    ELSE 'nightTime'
  END,
  date_time, extra, len(regexp_extract_all(extra, 'c'))
FROM bid
WHERE 0.908 * price::DECIMAL(18, 0) BETWEEN 1000000.001 AND 49999999.999
