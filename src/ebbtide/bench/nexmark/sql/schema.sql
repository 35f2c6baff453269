-- Nexmark: people, auctions and bids; proc_time is when a bid was received.

CREATE STREAM person (
  id BIGINT NOT NULL,
  name STRING,
  email_address STRING,
  credit_card STRING,
  city STRING,
  state STRING,
  date_time TIMESTAMP NOT NULL,
  extra STRING,
  PRIMARY KEY (id),
  PROGRESS FOR date_time AS date_time - INTERVAL 4 SECONDS)
APPEND ONLY;

CREATE STREAM auction (
  id BIGINT NOT NULL,
  item_name STRING,
  description STRING,
  initial_bid BIGINT,
  reserve BIGINT,
  date_time TIMESTAMP NOT NULL,
  expires TIMESTAMP NOT NULL,
  seller BIGINT,
  category BIGINT,
  extra STRING,
  PRIMARY KEY (id),
  PROGRESS FOR date_time AS date_time - INTERVAL 4 SECONDS)
APPEND ONLY;

CREATE STREAM bid (
  auction BIGINT NOT NULL,
  bidder BIGINT NOT NULL,
  price BIGINT,
  channel STRING,
  url STRING,
  date_time TIMESTAMP NOT NULL,
  extra STRING,
  proc_time TIMESTAMP NOT NULL,
  PROGRESS FOR date_time AS date_time - INTERVAL 4 SECONDS,
  PROGRESS FOR proc_time AS proc_time);

CREATE TABLE side_input (
  key BIGINT NOT NULL,
  value STRING,
  PRIMARY KEY (key));
