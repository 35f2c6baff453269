CREATE TABLE person (id BIGINT, name STRING, email_address STRING, credit_card STRING, city STRING,
  state STRING, date_time TIMESTAMP(3), extra STRING,
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{person}', 'format' = 'csv')

CREATE TABLE auction (id BIGINT, item_name STRING, description STRING, initial_bid BIGINT,
  reserve BIGINT, date_time TIMESTAMP(3), expires TIMESTAMP(3), seller BIGINT, category BIGINT,
  extra STRING,
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{auction}', 'format' = 'csv')

CREATE TABLE bid (auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP(3), extra STRING, proc_time TIMESTAMP(3),
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{bid}', 'format' = 'csv')

CREATE TABLE bid_received (auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP(3), extra STRING, proc_time TIMESTAMP(3),
  WATERMARK FOR proc_time AS proc_time)
WITH ('connector' = 'filesystem', 'path' = '{bid}', 'format' = 'csv')

CREATE TABLE side_input (key BIGINT, `value` STRING)
WITH ('connector' = 'filesystem', 'path' = '{side_input}', 'format' = 'csv')
