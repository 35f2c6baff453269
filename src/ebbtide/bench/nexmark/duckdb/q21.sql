SELECT auction, bidder, price, channel,
  coalesce(
    nullif(list_position(['apple', 'google', 'facebook', 'baidu'], lower(channel)), 0) - 1,
    regexp_extract(url, '[&]channel_id=([^&]*)', 1)::INT
  )::VARCHAR
FROM bid
WHERE lower(channel) IN ('apple', 'google', 'facebook', 'baidu') OR contains(url, '&channel_id=')
