-- What the statements of this directory are about: an auction house.

CREATE STREAM bids (
  auction BIGINT NOT NULL,
  bidder BIGINT NOT NULL,
  price DOUBLE,
  channel STRING,
  at TIMESTAMP NOT NULL,
  seen TIMESTAMP,
  PRIMARY KEY (auction, bidder, at),
  PROGRESS FOR at AS at - INTERVAL 5 SECONDS,
  PROGRESS FOR seen AS seen)
RETAIN 1 DAY;

CREATE STREAM auctions (
  id BIGINT NOT NULL,
  seller BIGINT,
  category INT,
  item STRING,
  reserve DECIMAL(10, 2),
  tags ARRAY<STRING>,
  shop STRUCT<name: STRING, city: STRING>,
  at TIMESTAMP NOT NULL,
  expires TIMESTAMP,
  PRIMARY KEY (id),
  PROGRESS FOR at AS at);

CREATE STREAM people (
  id BIGINT NOT NULL,
  name STRING,
  email STRING,
  city STRING,
  state STRING,
  photo BINARY,
  born DATE,
  at TIMESTAMP NOT NULL,
  PRIMARY KEY (id),
  PROGRESS FOR at AS at - INTERVAL 1 MINUTE);

CREATE TABLE sellers (
  id BIGINT NOT NULL,
  name STRING,
  state STRING,
  rating INT,
  at TIMESTAMP NOT NULL,
  op STRING,
  seq BIGINT,
  PRIMARY KEY (id),
  PROGRESS FOR at AS at)
TIME at OP op SEQUENCE seq;

CREATE TABLE categories (
  id INT NOT NULL,
  name STRING,
  parent INT,
  PRIMARY KEY (id));

CREATE TABLE sums (
  auction BIGINT NOT NULL,
  total DOUBLE,
  at TIMESTAMP,
  PRIMARY KEY (auction));
