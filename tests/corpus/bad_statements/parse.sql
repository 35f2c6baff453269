-- Statements that are not in the language, each with the code of its error, the text that the error
-- points at, and its hint.  A hint "write X" means: put X in the place of that text, and it parses.

-- code: syntax
-- span: SELEC
-- hint: write SELECT
SELEC auction FROM bids;

-- code: syntax
-- span: FORM
-- hint: write FROM
SELECT auction FORM bids;

-- code: syntax
-- span: WHER
-- hint: write WHERE
SELECT auction FROM bids WHER price > 10;

-- code: syntax
-- span: GROPU
-- hint: write GROUP
SELECT auction FROM bids GROPU BY auction;

-- code: syntax
-- span: FINALS
-- hint: write FINAL
SELECT auction FROM bids EMIT FINALS;

-- code: syntax
-- span: UNBOUND
-- hint: write UNBOUNDED
SELECT auction FROM bids ALLOW UNBOUND STATE;

-- code: syntax
-- span: ,
SELECT auction, FROM bids;

-- code: syntax
-- span: FROM
SELECT FROM bids;

-- code: syntax
-- span:
SELECT auction FROM;

-- code: syntax
-- span:
SELECT auction FROM bids WHERE;

-- code: syntax
-- span:
SELECT auction FROM bids WHERE price >;

-- code: syntax
-- span:
SELECT auction FROM bids WHERE price BETWEEN 1;

-- code: syntax
-- span: FROM
SELECT (price FROM bids;

-- code: syntax
-- span: )
SELECT price) FROM bids;

-- code: syntax
-- span: price
SELECT auction bidder price FROM bids;

-- code: syntax
-- span: FROM
FROM bids SELECT auction;

-- code: syntax
-- span:
SELECT auction FROM bids ORDER BY;

-- code: duplicate-clause
-- span: WHERE
SELECT auction FROM bids WHERE price > 1 WHERE price < 5;

-- code: syntax
-- span: 'dear'
SELECT CASE WHEN price > 1 'dear' END FROM bids;

-- code: syntax
-- span: END
SELECT CASE price END FROM bids;

-- code: syntax
-- span: INT
SELECT CAST(price INT) FROM bids;

-- code: syntax
-- span: FROM
SELECT MAX(price FROM bids;

-- code: unknown-window
-- span: RANG
-- hint: write RANGE
SELECT * FROM bids [RANG 15 MINUTES];

-- code: unknown-window
-- span: SLIDING
SELECT * FROM bids [SLIDING 15 MINUTES];

-- code: unknown-window
-- span: ]
SELECT * FROM bids [];

-- code: syntax
-- span:
SELECT * FROM bids [RANGE 15 MINUTES;

-- code: bad-duration
-- span: 15
-- hint: write 15 MINUTES
SELECT * FROM bids [RANGE 15];

-- code: bad-duration
-- span: 15FURLONGS
-- hint: use MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS or WEEKS
SELECT * FROM bids [RANGE 15FURLONGS];

-- code: bad-duration
-- span: MINUTS
-- hint: write MINUTES
SELECT * FROM bids [RANGE 15 MINUTS];

-- code: no-fixed-length
-- span: 2 MONTHS
-- hint: write 60 DAYS
SELECT * FROM bids [RANGE 2 MONTHS];

-- code: bad-duration
-- span: 0 SECONDS
SELECT * FROM bids [RANGE 0 SECONDS];

-- code: bad-duration
-- span: -5 MINUTES
SELECT * FROM bids [RANGE -5 MINUTES];

-- code: bad-duration
-- span: '15 minuets'
-- hint: use MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS or WEEKS
SELECT * FROM bids [RANGE '15 minuets'];

-- code: bad-duration
-- span: 0.0000001
SELECT * FROM bids [RANGE 0.0000001 SECONDS];

-- code: bad-duration
-- span: ]
-- hint: a duration is 15 MINUTES
SELECT * FROM bids [FIXED];

-- code: bad-count
-- span: ]
SELECT * FROM bids [ROWS];

-- code: bad-count
-- span: 0
SELECT * FROM bids [ROWS 0];

-- code: bad-count
-- span: 2.5
SELECT * FROM bids [ROWS 2.5];

-- code: syntax
-- span: RANGE
SELECT * FROM bids [PARTITION BY auction RANGE 5 MINUTES];

-- code: misplaced-window
-- span: bids AS b [RANGE 15 MINUTES]
-- hint: write bids [RANGE 15 MINUTES] AS b
SELECT * FROM bids AS b [RANGE 15 MINUTES];

-- code: misplaced-window
-- span: bids b [ROWS 10]
-- hint: write bids [ROWS 10] AS b
SELECT * FROM bids b [ROWS 10] WHERE b.price > 1;

-- code: syntax
-- span: [ROWS 1]
SELECT * FROM VALUES (1) AS v (n) [ROWS 1];

-- code: missing-every
-- span: RSTREAM(SELECT * FROM bids [RANGE 1 MINUTE])
-- hint: write RSTREAM(SELECT * FROM bids [RANGE 1 MINUTE] EVERY 10 SECONDS)
RSTREAM(SELECT * FROM bids [RANGE 1 MINUTE]);

-- code: misplaced-every
-- span: EVERY 10 SECONDS
ISTREAM(SELECT * FROM bids [RANGE 1 MINUTE] EVERY 10 SECONDS);

-- code: syntax
-- span: ISTREAM(SELECT price FROM bids [NOW])
SELECT ISTREAM(SELECT price FROM bids [NOW]) FROM bids;

-- code: misplaced-emit
-- span: EMIT FINAL
-- hint: say it once, after the outermost query, or behind a view of its own: CREATE VIEW v AS SELECT ... EMIT FINAL
SELECT * FROM (SELECT * FROM bids EMIT FINAL) AS b;

-- code: misplaced-emit
-- span: EMIT CHANGES
-- hint: say it once, after the outermost query, or behind a view of its own: CREATE VIEW v AS SELECT ... EMIT FINAL
CREATE VIEW v AS SELECT * FROM (SELECT * FROM bids EMIT CHANGES) AS b;

-- code: duplicate-clause
-- span: EMIT CHANGES
CREATE VIEW v AS SELECT * FROM bids EMIT FINAL EMIT CHANGES;

-- code: duplicate-clause
-- span: EMIT CHANGES
SELECT * FROM bids EMIT FINAL EMIT CHANGES;

-- code: duplicate-clause
-- span: ALLOW UNBOUNDED STATE
SELECT * FROM bids ALLOW UNBOUNDED STATE ALLOW UNBOUNDED STATE;

-- code: unknown-table-function
-- span: TUMBEL
-- hint: write TUMBLE
SELECT * FROM TUMBEL(bids, at, 10 MINUTES);

-- code: unknown-table-function
-- span: POSEXPLODE
-- hint: UNNEST stands in FROM: FROM events CROSS JOIN UNNEST(items) AS t (item)
SELECT * FROM POSEXPLODE(tags);

-- code: wrong-arguments
-- span: TUMBLE(bids, at)
-- hint: write TUMBLE(bids, at, 10 MINUTES)
SELECT * FROM TUMBLE(bids, at);

-- code: wrong-arguments
-- span: HOP(bids, at, 10 MINUTES)
-- hint: write HOP(bids, at, 1 MINUTE, 10 MINUTES)
SELECT * FROM HOP(bids, at, 10 MINUTES);

-- code: wrong-arguments
-- span: TUMBLE(bids PARTITION BY bidder, at, 10 MINUTES)
-- hint: write TUMBLE(bids, at, 10 MINUTES)
SELECT * FROM TUMBLE(bids PARTITION BY bidder, at, 10 MINUTES);

-- code: no-fixed-length
-- span: 3 MONTHS
-- hint: write 90 DAYS
SELECT INTERVAL 3 MONTHS;

-- code: no-fixed-length
-- span: '1 year'
-- hint: use DAYS or smaller units
SELECT INTERVAL '1 year';

-- code: bad-duration
-- span: '5'
-- hint: write '5' MINUTES
SELECT INTERVAL '5';

-- code: bad-duration
-- span: INTERVAL price MINUTES
-- hint: write price * INTERVAL 1 MINUTE
SELECT at + INTERVAL price MINUTES FROM bids;

-- code: bad-duration
-- span: '1 02:03'
-- hint: such a duration is written INTERVAL '1 02:03:04' DAY TO SECOND
SELECT INTERVAL '1 02:03' DAY TO SECOND;

-- code: no-fixed-length
-- span: MONTH
-- hint: use DAYS or smaller units
SELECT FLOOR(at TO MONTH) FROM bids;

-- code: bad-duration
-- span: FORTNIGHT
-- hint: use MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS or WEEKS
SELECT FLOOR(at TO FORTNIGHT) FROM bids;

-- code: missing-condition
-- span: JOIN
-- hint: write CROSS JOIN
SELECT * FROM bids [NOW] AS b JOIN auctions [NOW] AS a;

-- code: missing-condition
-- span: LEFT JOIN
-- hint: add ON ...
SELECT * FROM bids [NOW] AS b LEFT JOIN auctions [NOW] AS a;

-- code: syntax
-- span: CROSS JOIN
-- hint: write JOIN
SELECT * FROM bids [NOW] AS b CROSS JOIN auctions [NOW] AS a ON a.id = b.auction;

-- code: syntax
-- span: OUTER JOIN
-- hint: write FULL JOIN
SELECT * FROM bids [NOW] AS b OUTER JOIN auctions [NOW] AS a ON a.id = b.auction;

-- code: unsupported-syntax
-- span: NATURAL
-- hint: name the columns with USING
SELECT * FROM bids [NOW] AS b NATURAL JOIN auctions [NOW] AS a;

-- code: unsupported-syntax
-- span: shop.bids
SELECT * FROM shop.bids;

-- code: syntax
-- span: 'bids'
SELECT * FROM 'bids';

-- code: syntax
-- span: 'b'
-- hint: write `b`
SELECT * FROM bids AS 'b';

-- code: syntax
-- span:
SELECT price AS p FROM bids QUALIFY;

-- code: unknown-window
-- span: v
SELECT SUM(price) OVER v FROM bids WINDOW w AS (ORDER BY at);

-- code: unknown-window
-- span: w
SELECT SUM(price) OVER (w ORDER BY price) FROM bids;

-- code: duplicate-clause
-- span: w
SELECT SUM(price) OVER (w ORDER BY price) FROM bids WINDOW w AS (ORDER BY at);

-- code: duplicate-name
-- span: w
SELECT SUM(price) OVER w FROM bids WINDOW w AS (ORDER BY at), w AS (ORDER BY price);

-- code: unsupported-syntax
-- span: WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY auction
-- hint: write GROUP BY auction, TUMBLE(at, INTERVAL 1 HOUR)
SELECT auction, COUNT(*) FROM bids WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY auction;

-- code: unsupported-syntax
-- span: GROUPS
-- hint: a frame is of ROWS or of RANGE
SELECT SUM(price) OVER (ORDER BY at GROUPS 2 PRECEDING) FROM bids;

-- code: syntax
-- span: )
SELECT SUM(price) OVER (ORDER BY at ROWS 2) FROM bids;

-- code: unsupported-syntax
-- span: GROUP BY CUBE (auction, bidder, price, channel, at, seen)
-- hint: name the sets that matter: GROUPING SETS ((a, b), (a))
SELECT channel FROM bids GROUP BY CUBE (auction, bidder, price, channel, at, seen);

-- code: unsupported-syntax
-- span: *
-- hint: list the columns
SELECT * FROM bids GROUP BY ROLLUP(channel);

-- code: unsupported-syntax
-- span: RANK() OVER (ORDER BY COUNT(*))
-- hint: group in a subquery, and use OVER on what it gives
SELECT channel, RANK() OVER (ORDER BY COUNT(*)) FROM bids GROUP BY ROLLUP(channel);

-- code: wrong-arguments
-- span: price
SELECT channel, GROUPING(price) FROM bids GROUP BY ROLLUP(channel);

-- code: wrong-arguments
-- span: GROUPING()
SELECT channel, GROUPING() FROM bids GROUP BY channel;

-- code: bad-position
-- span: 3
-- hint: write 1
SELECT channel FROM bids GROUP BY ROLLUP(3);

-- code: syntax
-- span: CUBE
SELECT channel FROM bids GROUP BY ROLLUP(channel) WITH CUBE;

-- code: unsupported-syntax
-- span: TABLESAMPLE
-- hint: a part of the rows is a condition: WHERE PMOD(id, 10) = 0
SELECT * FROM bids TABLESAMPLE (10 PERCENT);

-- code: unsupported-syntax
-- span: LATERAL
-- hint: UNNEST(items) AS t (item) has a row for each item; QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) <= 3 keeps the first of each group
SELECT * FROM auctions [NOW], LATERAL (SELECT 1);

-- code: unsupported-syntax
-- span: bids PIVOT
-- hint: write (SELECT channel, price FROM bids) PIVOT
SELECT * FROM bids PIVOT (SUM(price) FOR channel IN ('web', 'app'));

-- code: syntax
-- span: SUM(price) / 2
SELECT * FROM (SELECT channel, price FROM bids) PIVOT (SUM(price) / 2 FOR channel IN ('web'));

-- code: syntax
-- span: auction
SELECT * FROM (SELECT channel, price FROM bids) PIVOT (SUM(price) FOR channel IN (auction));

-- code: unsupported-syntax
-- span: CLUSTER BY auction
-- hint: leave it out
SELECT * FROM bids CLUSTER BY auction;

-- code: unsupported-syntax
-- span: /*+ BROADCAST(a) */
-- hint: leave it out
SELECT /*+ BROADCAST(a) */ * FROM auctions AS a;

-- code: unsupported-syntax
-- span: UPPER(t)
-- hint: parentheses stand around a key, json -> (key); UNNEST has a row for each item of an array
SELECT TRANSFORM(tags, t -> UPPER(t)) FROM auctions;

-- code: bad-count
-- span: ten
SELECT * FROM bids LIMIT ten;

-- code: syntax
-- span: +
SELECT * FROM bids LIMIT 1 + 1;

-- code: unsupported-syntax
-- span: LIMIT ALL
-- hint: leave it out
SELECT * FROM bids LIMIT ALL;

-- code: unsupported-syntax
-- span: auction
-- hint: put the query with QUALIFY in a subquery
SELECT DISTINCT ON (auction) price FROM bids QUALIFY ROW_NUMBER() OVER (ORDER BY at) = 1;

-- code: unsupported-syntax
-- span: copy
-- hint: use INSERT INTO name SELECT ...
SELECT price INTO copy FROM bids;

-- code: unsupported-syntax
-- span: UNION ALL
SELECT id FROM auctions UNION ALL BY NAME SELECT id FROM people;

-- code: syntax
-- span:
SELECT id FROM auctions UNION;

-- code: syntax
-- span: LIMIT 3
SELECT id FROM auctions LIMIT 3 UNION SELECT id FROM people;

-- code: syntax
-- span: WITH p AS (SELECT 1)
SELECT 1 UNION WITH p AS (SELECT 1) SELECT * FROM p;

-- code: unsupported-syntax
-- span: WITH RECURSIVE r AS (SELECT 1)
WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r;

-- code: syntax
-- span: SELECT
WITH r AS SELECT 1 SELECT * FROM r;

-- code: syntax
-- span: *
SELECT SUM(*) FROM bids;

-- code: syntax
-- span: price AS p
SELECT (price AS p) FROM bids;

-- code: unsupported-syntax
-- span: (auction, bidder)
-- hint: write STRUCT(auction, bidder)
SELECT (auction, bidder) FROM bids;

-- code: syntax
-- span: SELECT channel FROM bids
-- hint: write (SELECT channel FROM bids)
SELECT LENGTH(SELECT channel FROM bids) FROM bids;

-- code: syntax
-- span: auction IN ()
SELECT auction IN () FROM bids;

-- code: syntax
-- span: ids
SELECT auction IN ids FROM bids;

-- code: syntax
-- span: 'ab'
SELECT channel LIKE 'a%' ESCAPE 'ab' FROM bids;

-- code: syntax
-- span: price IS 5
SELECT price IS 5 FROM bids;

-- code: unsupported-syntax
-- span: [1, 2]
-- hint: an array is made by ARRAY(...)
SELECT [1, 2];

-- code: unsupported-syntax
-- span: {'a': 1}
-- hint: a struct is made by STRUCT(...)
SELECT {'a': 1};

-- code: syntax
-- span: ?
SELECT price FROM bids WHERE auction = ?;

-- code: syntax
-- span: :
SELECT price FROM bids WHERE auction = :id;

-- code: unknown-type
-- span: FLOAT8
-- hint: write DOUBLE
SELECT CAST(price AS FLOAT8) FROM bids;

-- code: sized-type
-- span: VARCHAR(10)
-- hint: write STRING
SELECT CAST(channel AS VARCHAR(10)) FROM bids;

-- code: sized-type
-- span: CHAR
-- hint: write STRING
SELECT CAST(channel AS CHAR) FROM bids;

-- code: sized-type
-- span: VARCHAR(10)
-- hint: write STRING
SELECT CAST(tags AS ARRAY<VARCHAR(10)>) FROM auctions;

-- code: sized-type
-- span: TIMESTAMP(3)
-- hint: write TIMESTAMP
SELECT at::TIMESTAMP(3) FROM bids;

-- code: syntax
-- span: NOT NULL
-- hint: write IS NOT NULL
SELECT auction FROM bids WHERE price NOT NULL;

-- code: unknown-type
-- span: DECIMAL
SELECT CAST(price AS DECIMAL(5 5, 2)) FROM bids;

-- code: unknown-type
-- span: MAP<STRING, INT>
SELECT CAST(tags AS MAP<STRING, INT>) FROM auctions;

-- code: unterminated
-- span: 'web FROM bids
-- hint: close it with '
SELECT 'web FROM bids;

-- code: unterminated
-- span: `price FROM bids
-- hint: close it with `
SELECT `price FROM bids;

-- code: unterminated
-- span: /* for now FROM bids
-- hint: close it with */
SELECT price /* for now FROM bids;

-- code: bad-literal
-- span: X'1G'
SELECT X'1G';

-- code: bad-literal
-- span: 0x1F
-- hint: write X'1F'
SELECT 0x1F;

-- code: bad-literal
-- span: 1e
SELECT 1e;

-- code: syntax
-- span: STREEM
-- hint: write STREAM
CREATE STREEM s (a INT);

-- code: unsupported-syntax
-- span: CREATE FUNCTION f
-- hint: leave it out
CREATE FUNCTION f;

-- code: unsupported-syntax
-- span: CREATE SINK s FROM v
-- hint: leave it out
CREATE SINK s FROM v;

-- code: unsupported-syntax
-- span: SOURCE
-- hint: write STREAM
CREATE SOURCE s (a INT);

-- code: unsupported-syntax
-- span: SOURCE TABLE
-- hint: write TABLE
CREATE SOURCE TABLE s (a INT PRIMARY KEY);

-- code: unsupported-syntax
-- span: EXTERNAL TABLE
-- hint: write TABLE
CREATE EXTERNAL TABLE s (a INT);

-- code: unsupported-syntax
-- span: TEMPORARY
-- hint: leave it out
CREATE OR REPLACE TEMPORARY VIEW v AS SELECT * FROM bids [NOW];

-- code: unsupported-syntax
-- span: CREATE STREAM s AS SELECT * FROM bids WHERE price > 10 EMIT CHANGES
-- hint: write CREATE VIEW s AS SELECT * FROM bids WHERE price > 10
CREATE STREAM s AS SELECT * FROM bids WHERE price > 10 EMIT CHANGES;

-- code: unsupported-syntax
-- span: NOT ENFORCED
-- hint: leave it out
CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED);

-- code: unsupported-syntax
-- span: NOT ENFORCED
-- hint: leave it out
CREATE TABLE t (id INT PRIMARY KEY NOT ENFORCED, name STRING);

-- code: duplicate-clause
-- span: PRIMARY KEY
CREATE TABLE t (id INT PRIMARY KEY, name STRING PRIMARY KEY);

-- code: unsupported-syntax
-- span: CONSTRAINT pk
-- hint: leave it out
CREATE TABLE t (id INT, CONSTRAINT pk PRIMARY KEY (id));

-- code: unsupported-syntax
-- span: , UNIQUE (name)
-- hint: leave it out
CREATE TABLE t (id INT, name STRING, UNIQUE (name));

-- code: unsupported-syntax
-- span: CHECK (id > 0),
-- hint: leave it out
CREATE TABLE t (CHECK (id > 0), id INT);

-- code: unsupported-syntax
-- span: , FOREIGN KEY (id) REFERENCES other (id)
-- hint: leave it out
CREATE TABLE t (id INT, FOREIGN KEY (id) REFERENCES other (id));

-- code: unsupported-syntax
-- span: , seen AS PROCTIME()
-- hint: leave it out
CREATE STREAM s (a INT, seen AS PROCTIME(), b INT);

-- code: unsupported-syntax
-- span: METADATA FROM 'timestamp' VIRTUAL
-- hint: leave it out
CREATE STREAM s (a INT, at TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL);

-- code: unsupported-syntax
-- span: DEFAULT (1 + 2)
-- hint: leave it out
CREATE STREAM s (a INT DEFAULT (1 + 2) NOT NULL);

-- code: unsupported-syntax
-- span: KEY
-- hint: leave it out
CREATE STREAM s (a INT KEY, b INT);

-- code: unsupported-syntax
-- span: GENERATED ALWAYS AS (b + 1)
-- hint: leave it out
CREATE STREAM s (a INT GENERATED ALWAYS AS (b + 1), b INT);

-- code: unsupported-syntax
-- span: REFERENCES other (id)
-- hint: leave it out
CREATE STREAM s (a INT REFERENCES other (id), b INT);

-- code: unsupported-syntax
-- span: WITH ('connector' = 'kafka', 'topic' = 'bids', 'format' = 'json')
-- hint: leave it out
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'bids', 'format' = 'json');

-- code: unsupported-syntax
-- span: WITH ('connector' = 'filesystem', 'path' = 'data/bids', 'format' = 'json')
-- hint: write FROM FILES 'data/bids' FORMAT json
CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'data/bids', 'format' = 'json');

-- code: unsupported-syntax
-- span: USING PARQUET OPTIONS (path 'data/bids') PARTITIONED BY (a)
-- hint: write FROM FILES 'data/bids' FORMAT parquet
CREATE TABLE t (a INT) USING PARQUET OPTIONS (path 'data/bids') PARTITIONED BY (a);

-- code: unsupported-syntax
-- span: USING csv LOCATION 'data/bids'
-- hint: write FROM FILES 'data/bids' FORMAT csv
CREATE TABLE t (a INT) USING csv LOCATION 'data/bids' RETAIN 1 DAY;

-- code: unsupported-syntax
-- span: USING delta
-- hint: leave it out
CREATE TABLE t (a INT) USING delta;

-- code: unsupported-syntax
-- span: TBLPROPERTIES ('a' = 'b')
-- hint: leave it out
CREATE TABLE t (a INT) TBLPROPERTIES ('a' = 'b');

-- code: unsupported-syntax
-- span: COMMENT 'what it is'
-- hint: leave it out
CREATE TABLE t (a INT) COMMENT 'what it is';

-- code: unsupported-syntax
-- span: FORMAT PLAIN ENCODE JSON
-- hint: leave it out
CREATE STREAM t (a INT) FORMAT PLAIN ENCODE JSON;

-- code: unsupported-syntax
-- span: FROM KAFKA CONNECTION k (TOPIC 'bids') ENVELOPE UPSERT
-- hint: leave it out
CREATE STREAM t (a INT) FROM KAFKA CONNECTION k (TOPIC 'bids') ENVELOPE UPSERT;

-- code: syntax
-- span:
CREATE STREAM s;

-- code: syntax
-- span: )
CREATE STREAM s ();

-- code: syntax
-- span: )
CREATE STREAM s (a);

-- code: misplaced-clause
-- span: , TIME at)
-- hint: write ) TIME at
CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP, TIME at);

-- code: misplaced-clause
-- span: , LIFETIME 1 DAY, PRIMARY KEY (id))
-- hint: write , PRIMARY KEY (id)) LIFETIME 1 DAY
CREATE TABLE t (id INT, at TIMESTAMP, LIFETIME 1 DAY, PRIMARY KEY (id)) TIME at;

-- code: misplaced-clause
-- span: IDLE AFTER 5 SECONDS, at TIMESTAMP)
-- hint: write at TIMESTAMP) IDLE AFTER 5 SECONDS
CREATE STREAM s (IDLE AFTER 5 SECONDS, at TIMESTAMP);

-- code: misplaced-clause
-- span: , FROM FILES 'in' FORMAT json)
-- hint: write ) FROM FILES 'in' FORMAT json
CREATE STREAM s (a INT, FROM FILES 'in' FORMAT json);

-- code: unknown-type
-- span: at
CREATE TABLE t (price at);

-- code: unknown-type
-- span: INTT
-- hint: write INT
CREATE STREAM s (a INTT);

-- code: sized-type
-- span: TIMESTAMP(9)
-- hint: write TIMESTAMP
CREATE STREAM s (a TIMESTAMP(9));

-- code: unknown-type
-- span: VARCHAR(MAX)
-- hint: write STRING
CREATE STREAM s (a VARCHAR(MAX));

-- code: unknown-type
-- span: ROW
-- hint: write STRUCT
CREATE STREAM s (a ROW<x: INT>);

-- code: unknown-type
-- span: JSONB
-- hint: write STRING
CREATE STREAM s (a JSONB);

-- code: unknown-type
-- span: TIMESTAMP_NTZ(3)
-- hint: write TIMESTAMP
CREATE STREAM s (a TIMESTAMP_NTZ(3));

-- code: bad-decimal
-- span: DECIMAL(50, 2)
-- hint: precision is 1 to 38 and scale 0 to the precision
CREATE STREAM s (a DECIMAL(50, 2));

-- code: bad-promise
-- span: a
-- hint: write at - INTERVAL 5 SECONDS
CREATE STREAM s (a INT, at TIMESTAMP, PROGRESS FOR at AS a);

-- code: bad-promise
-- span: at + INTERVAL 5 SECONDS
-- hint: write at - INTERVAL 5 SECONDS
CREATE STREAM s (at TIMESTAMP, PROGRESS FOR at AS at + INTERVAL 5 SECONDS);

-- code: duplicate-clause
-- span: PRIMARY KEY
CREATE STREAM s (a INT, PRIMARY KEY (a), PRIMARY KEY (a));

-- code: duplicate-clause
-- span: RETAIN 2 DAYS
CREATE STREAM s (a INT) RETAIN 1 DAY RETAIN 2 DAYS;

-- code: no-fixed-length
-- span: 1 YEAR
-- hint: write 365 DAYS
CREATE STREAM s (a INT) RETAIN 1 YEAR;

-- code: syntax
-- span: DROP
CREATE STREAM s (a INT) LATE DROP;

-- code: syntax
-- span: REVIZE
-- hint: write REVISE
CREATE STREAM s (a INT) LATE REVIZE;

-- code: syntax
-- span: TIME
CREATE STREAM s (a INT) TIME a;

-- code: syntax
-- span: data
CREATE STREAM s (a INT) FROM FILES data FORMAT json;

-- code: syntax
-- span: 3
CREATE STREAM s (a INT) FROM FILES 'data' FORMAT 3;

-- code: syntax
-- span:
CREATE STREAM s (a INT) FROM FILES 'data';

-- code: syntax
-- span: RETIAN
-- hint: write RETAIN
CREATE TABLE t (a INT) RETIAN 1 DAY;

-- code: syntax
-- span: SELECT
CREATE VIEW v SELECT 1;

-- code: syntax
-- span: bids
INSERT bids SELECT 1;

-- code: syntax
-- span: STREAM
-- hint: write STREAMS
SHOW STREAM;

-- code: syntax
-- span: bids
DROP bids;

-- code: unsupported-syntax
-- span: UPDATE bids SET price = 1
-- hint: a row is corrected by an operation: engine.feed(name, rows, op='replace')
UPDATE bids SET price = 1;

-- code: syntax
-- span:
EXPLAIN;


-- code: syntax
-- span: )
SELECT COUNT(*) FILTER (WHERE ) FROM bids;

-- code: syntax
-- span: )
SELECT SUM(price) OVER (PARTITION BY ) FROM bids;

-- code: duplicate-clause
-- span: RESPECT NULLS
SELECT FIRST(price) IGNORE NULLS RESPECT NULLS FROM bids;

-- code: syntax
-- span: ,
SELECT MAX(, price) FROM bids;

-- code: syntax
-- span: FROM
SELECT COUNT(DISTINCT ) FROM bids;

-- code: syntax
-- span: *
SELECT COUNT(DISTINCT *) FROM bids;

-- code: syntax
-- span: * EXCEPT ()
SELECT * EXCEPT () FROM bids;

-- code: syntax
-- span:
SELECT * FROM bids AS;

-- code: unknown-type
-- span: INT[]
-- hint: write INT
SELECT auction::INT[] FROM bids;

-- code: syntax
-- span: NOT channel
-- hint: write (NOT channel)
SELECT price = NOT channel FROM bids;

-- code: syntax
-- span: 1.5.x
SELECT 1.5.x FROM bids;

-- code: unsupported-syntax
-- span: {# none #}
-- hint: a comment is written /* ... */ or -- ...
SELECT auction {# none #} FROM bids;

-- windows in GROUP BY

-- code: wrong-arguments
-- span: TUMBLE_END(at, INTERVAL '2' HOUR)
-- hint: write TUMBLE_END(at, INTERVAL '1' HOUR)
SELECT TUMBLE_END(at, INTERVAL '2' HOUR) AS e FROM bids GROUP BY TUMBLE(at, INTERVAL '1' HOUR);

-- code: wrong-arguments
-- span: TUMBLE(at + INTERVAL 2 HOURS, INTERVAL '1' HOUR)
-- hint: write TUMBLE(at, INTERVAL 10 MINUTES)
SELECT COUNT(*) AS n FROM bids GROUP BY TUMBLE(at + INTERVAL 2 HOURS, INTERVAL '1' HOUR);

-- code: wrong-arguments
-- span: window(at, '10 minutes', '5 minutes', '1 minute', '1 minute')
-- hint: write WINDOW(at, '10 minutes')
SELECT COUNT(*) AS n FROM bids GROUP BY window(at, '10 minutes', '5 minutes', '1 minute', '1 minute');

-- code: bad-duration
-- span: '10 moments'
-- hint: use MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS or WEEKS
SELECT COUNT(*) AS n FROM bids GROUP BY window(at, '10 moments');

-- code: bad-duration
-- span: '0 minutes'
-- hint: write INTERVAL 10 MINUTES
SELECT COUNT(*) AS n FROM bids GROUP BY window(at, '0 minutes');

-- code: bad-duration
-- span: 10
-- hint: write INTERVAL 10 MINUTES
SELECT COUNT(*) AS n FROM bids GROUP BY window(at, 10);

-- code: unsupported-syntax
-- span: window(seen, '2 minutes')
SELECT COUNT(*) AS n FROM bids GROUP BY window(at, '1 minute'), window(seen, '2 minutes');

-- code: unsupported-syntax
-- span: TUMBLE(b.at, INTERVAL '1' HOUR)
-- hint: name the join in WITH, and group what it gives
SELECT COUNT(*) AS n FROM bids AS b JOIN auctions AS a ON a.id = b.auction GROUP BY TUMBLE(b.at, INTERVAL '1' HOUR);

-- code: unsupported-syntax
-- span: UPPER(channel)
-- hint: name the expression in a query in FROM, and group by its name
SELECT COUNT(*) AS n FROM bids GROUP BY UPPER(channel), SESSION(at, INTERVAL '1' HOUR);

-- code: syntax
-- span: TUMBLE(at, INTERVAL '1' HOUR)
SELECT TUMBLE(at, INTERVAL '1' HOUR) AS t FROM bids;

-- functions that are said by others

-- code: bad-frame
-- span: w
SELECT CUME_DIST() OVER w FROM bids WINDOW w AS (ORDER BY at ROWS 2 PRECEDING);

-- code: bad-frame
-- span: PERCENT_RANK() OVER (ORDER BY at ROWS 2 PRECEDING)
SELECT PERCENT_RANK() OVER (ORDER BY at ROWS 2 PRECEDING) FROM bids;

-- code: missing-over
-- span: PERCENT_RANK()
SELECT PERCENT_RANK() FROM bids;

-- code: wrong-arguments
-- span: NTILE()
-- hint: write NTILE(4)
SELECT NTILE() OVER (ORDER BY at) FROM bids;

-- code: bad-count
-- span: auction
SELECT NTILE(auction) OVER (ORDER BY at) FROM bids;

-- code: wrong-arguments
-- span: STRING_AGG()
-- hint: write STRING_AGG(name, ', ')
SELECT STRING_AGG() FROM bids;

-- code: duplicate-clause
-- span: WITHIN GROUP
SELECT STRING_AGG(channel, ',' ORDER BY at) WITHIN GROUP (ORDER BY at) FROM bids;

-- double quotes

-- code: unterminated
-- span: "price FROM bids
-- hint: close it with "
SELECT "price FROM bids;

-- code: double-quoted
-- span: r"raw"
-- hint: write r'raw'
SELECT r"raw" FROM bids;

-- code: double-quoted
-- span: X"1F"
-- hint: write X'1F'
SELECT X"1F";

-- code: double-quoted
-- span: DATE "2026-01-01"
-- hint: write DATE '2026-01-01'
SELECT DATE "2026-01-01";

-- code: double-quoted
-- span: "the key"
-- hint: write 'the key'
CREATE STREAM s (a INT COMMENT "the key");

-- code: double-quoted
-- span: "data/bids"
-- hint: write 'data/bids'
CREATE STREAM s (a INT) FROM FILES "data/bids" FORMAT json;

-- ANY and ALL

-- code: unsupported-syntax
-- span: ANY (SELECT 1)
-- hint: it follows a comparison: a > ANY (SELECT ...)
SELECT price FROM bids WHERE ANY (SELECT 1);

-- code: syntax
-- span:
SELECT price FROM bids WHERE price <=> ANY (SELECT 1);

-- words of other systems

-- code: unsupported-syntax
-- span: FETCH FIRST 5 ROWS ONLY
-- hint: write LIMIT 5
SELECT * FROM bids FETCH FIRST 5 ROWS ONLY;

-- code: unsupported-syntax
-- span: SUBSCRIBE TO bids
-- hint: write SELECT * FROM bids
SUBSCRIBE TO bids;

-- code: unsupported-syntax
-- span: SET 'a' = 'b'
-- hint: leave it out
SET 'a' = 'b';

-- code: unsupported-syntax
-- span: WITHIN 1 HOUR ON a.id = b.auction
-- hint: write ON a.id = b.auction AND a.at BETWEEN b.at - INTERVAL 1 HOUR AND b.at + INTERVAL 1 HOUR
SELECT b.price FROM bids AS b JOIN auctions AS a WITHIN 1 HOUR ON a.id = b.auction;

-- code: unsupported-syntax
-- span: MATCH_RECOGNIZE
-- hint: join the stream with itself, and bound the times of its rows in ON
SELECT * FROM bids MATCH_RECOGNIZE (PARTITION BY auction ORDER BY at);

-- code: unsupported-syntax
-- span: UPPER('a')
-- hint: parentheses stand around a key, json -> (key); UNNEST has a row for each item of an array
SELECT channel ->> UPPER('a') FROM bids;

-- code: syntax
-- span: FROM
SELECT channel -> FROM bids;

-- code: unsupported-syntax
-- span: DEFAULT
-- hint: what is missing or no JSON is NULL; COALESCE(JSON_VALUE(json, '$.a'), 'other') puts another value in its place
SELECT JSON_VALUE(channel, '$.a' DEFAULT 'x' ON EMPTY) AS a FROM bids;

-- code: unsupported-syntax
-- span: UNNEST(tags)
-- hint: UNNEST stands in FROM: FROM events CROSS JOIN UNNEST(items) AS t (item)
SELECT item, UNNEST(tags), COUNT(*) FROM auctions [NOW] GROUP BY item;

-- code: unsupported-syntax
-- span: LATERAL VIEW POSEXPLODE
-- hint: CROSS JOIN UNNEST(items) WITH ORDINALITY AS t (item, place) is there
SELECT id FROM auctions [NOW] LATERAL VIEW POSEXPLODE(tags) t AS p, x;

-- code: unsupported-syntax
-- span: PARTITION BY auction
-- hint: leave it out
SELECT auction, price FROM bids PARTITION BY auction EMIT CHANGES;

-- code: unsupported-syntax
-- span: DISTRIBUTE BY auction
-- hint: leave it out
SELECT auction, price FROM bids [NOW] DISTRIBUTE BY auction LIMIT 3;

-- code: unsupported-syntax
-- span: WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS) GROUP BY auction
-- hint: write GROUP BY auction, HOP(at, INTERVAL 10 SECONDS, INTERVAL 30 SECONDS)
SELECT auction, COUNT(*) AS n FROM bids WINDOW HOPPING (SIZE 30 SECONDS, ADVANCE BY 10 SECONDS) GROUP BY auction;

-- code: unsupported-syntax
-- span: WINDOW SESSION (1 MINUTE) GROUP BY auction
-- hint: write GROUP BY auction, SESSION(at, INTERVAL 1 MINUTE)
SELECT auction, COUNT(*) AS n FROM bids WINDOW SESSION (1 MINUTE) GROUP BY auction;

-- code: unsupported-syntax
-- span: TERMINATE ALL
-- hint: leave it out
TERMINATE ALL;

-- code: unsupported-syntax
-- span: EXECUTE STATEMENT SET BEGIN
-- hint: leave it out
EXECUTE STATEMENT SET BEGIN SELECT * FROM bids [NOW];

-- code: unsupported-syntax
-- span: ALTER TABLE sellers ADD COLUMN age INT
-- hint: CREATE OR REPLACE declares a source again, while no run reads it
ALTER TABLE sellers ADD COLUMN age INT;

-- code: unsupported-syntax
-- span: SHOW SOURCES
-- hint: write SHOW STREAMS
SHOW SOURCES;

-- code: unsupported-syntax
-- span: CASCADE
-- hint: leave it out
DROP VIEW dear CASCADE;

-- code: unsupported-syntax
-- span: FLUSH
-- hint: leave it out
FLUSH;

-- code: unknown-table-function
-- span: JSONB_ARRAY_ELEMENTS(item)
-- hint: write UNNEST(JSON_ITEMS(item))
SELECT item FROM auctions [NOW], JSONB_ARRAY_ELEMENTS(item) AS t (x);

-- code: unsupported-syntax
-- span: SESSION
-- hint: SESSION(bids PARTITION BY bidder, at, 10 MINUTES) in FROM has sessions
SELECT FIRST(price) OVER (PARTITION BY auction ORDER BY at SESSION WITH GAP INTERVAL '5 MINUTES') AS p FROM bids [NOW];

-- code: unsupported-syntax
-- span: APPEND ONLY
-- hint: leave it out
CREATE TABLE t2 (id INT PRIMARY KEY, name STRING) APPEND ONLY;

-- code: unsupported-syntax
-- span: sellers s FOR SYSTEM_TIME AS OF b.at
-- hint: write sellers FOR SYSTEM_TIME AS OF b.at AS s
SELECT b.price FROM bids b LEFT JOIN sellers s FOR SYSTEM_TIME AS OF b.at ON s.id = b.auction;

-- code: unsupported-syntax
-- span: TOP 3
-- hint: leave it out, and write LIMIT 3 behind the query and its ORDER BY
SELECT TOP 3 price FROM bids [NOW] ORDER BY at;

-- code: unsupported-syntax
-- span: EMIT AFTER WATERMARK
-- hint: write EMIT FINAL
SELECT price FROM bids [NOW] EMIT AFTER WATERMARK;
