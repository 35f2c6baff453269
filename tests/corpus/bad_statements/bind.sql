-- Statements whose names, types or times are wrong, each with the code of its error, the text that
-- the error points at, and its hint.  A hint "write X" or "did you mean X?" means: put X in the place
-- of that text; a hint "add X" means: put X at the end; and the statement is right.

-- code: unknown-column
-- span: prise
-- hint: did you mean price?
SELECT prise FROM bids;

-- code: unknown-column
-- span: b.prise
-- hint: did you mean b.price?
SELECT b.prise FROM bids AS b;

-- code: unknown-table
-- span: bid.price
-- hint: did you mean b.price?
SELECT bid.price FROM bids AS b;

-- code: unknown-table
-- span: x.price
-- hint: did you mean b.price?
SELECT x.price FROM bids AS b;

-- code: unknown-name
-- span: bidz
-- hint: did you mean bids?
SELECT price FROM bidz;

-- code: unknown-name
-- span: recnt
-- hint: did you mean recent?
WITH recent AS (SELECT * FROM bids) SELECT * FROM recnt;

-- code: ambiguous-column
-- span: at
-- hint: write b.at
SELECT at FROM bids AS b JOIN auctions AS a ON a.id = b.auction;

-- code: duplicate-alias
-- span: bids
-- hint: write bids AS bids2
SELECT bids.price FROM bids CROSS JOIN bids;

-- code: duplicate-alias
-- span: auctions AS b
SELECT b.price FROM bids AS b JOIN auctions AS b ON b.id = b.auction;

-- code: duplicate-column
-- span: price
-- hint: write price AS price_2
SELECT price, price FROM bids;

-- code: duplicate-column
-- span: *
-- hint: write b.auction, b.bidder, b.price, b.channel, b.at, b.seen, a.id, a.seller, a.category, a.item, a.reserve, a.tags, a.shop, a.at AS at_2, a.expires
SELECT * FROM bids AS b JOIN auctions AS a ON a.id = b.auction;

-- code: unknown-table
-- span: c.*
-- hint: did you mean b.*?
SELECT c.* FROM bids AS b;

-- code: unknown-column
-- span: prise
-- hint: did you mean price?
SELECT * EXCEPT (prise) FROM bids;

-- code: nothing-to-select
-- span: *
SELECT *;

-- code: misplaced-aggregate
-- span: SUM(price)
-- hint: conditions on groups stand in HAVING, after GROUP BY
SELECT price FROM bids WHERE SUM(price) > 10;

-- code: misplaced-aggregate
-- span: MAX(price)
-- hint: compute MAX(price) in a subquery, and aggregate over that
SELECT SUM(MAX(price)) FROM bids;

-- code: misplaced-aggregate
-- span: SUM(price)
SELECT auction FROM bids GROUP BY SUM(price);

-- code: not-grouped
-- span: price
-- hint: write FIRST(price)
SELECT auction, price FROM bids GROUP BY auction;

-- code: not-grouped
-- span: auction
-- hint: write FIRST(auction)
SELECT auction, COUNT(*) FROM bids;

-- code: not-grouped
-- span: price
-- hint: write FIRST(price)
SELECT auction FROM bids GROUP BY auction HAVING price > 10;

-- code: bad-position
-- span: 2
-- hint: write 1
SELECT auction FROM bids GROUP BY 2;

-- code: bad-position
-- span: 3
-- hint: write 2
SELECT auction, price FROM bids ORDER BY 3 LIMIT 5;

-- code: order-without-limit
-- span: ORDER BY price
-- hint: write ORDER BY price LIMIT 10
SELECT price FROM bids ORDER BY price;

-- code: order-without-limit
-- span: OFFSET 3
-- hint: write LIMIT 10 OFFSET 3
SELECT price FROM bids OFFSET 3;

-- code: not-selected
-- span: price
SELECT DISTINCT auction FROM bids ORDER BY price LIMIT 3;

-- code: misplaced-window-function
-- span: ROW_NUMBER() OVER (ORDER BY at)
-- hint: compute ROW_NUMBER() OVER (ORDER BY at) in a subquery, and use its column outside
SELECT price FROM bids WHERE ROW_NUMBER() OVER (ORDER BY at) <= 3;

-- code: misplaced-window-function
-- span: RANK() OVER (ORDER BY auction)
-- hint: compute RANK() OVER (ORDER BY auction) in a subquery, and use its column outside
SELECT auction FROM bids GROUP BY auction HAVING RANK() OVER (ORDER BY auction) = 1;

-- code: missing-over
-- span: ROW_NUMBER()
-- hint: write ROW_NUMBER() OVER (ORDER BY bids.at)
SELECT ROW_NUMBER() FROM bids;

-- code: missing-order
-- span: RANK() OVER (PARTITION BY auction)
-- hint: write RANK() OVER (PARTITION BY auction ORDER BY bids.at)
SELECT RANK() OVER (PARTITION BY auction) FROM bids;

-- code: bad-frame
-- span: ROW_NUMBER() OVER (ORDER BY at ROWS 3 PRECEDING)
SELECT ROW_NUMBER() OVER (ORDER BY at ROWS 3 PRECEDING) FROM bids;

-- code: bad-frame
-- span: 5
SELECT SUM(price) OVER (ORDER BY channel RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM bids;

-- code: bad-frame
-- span: 1 FOLLOWING AND 3
SELECT SUM(price) OVER (ORDER BY at ROWS BETWEEN 1 FOLLOWING AND 3 PRECEDING) FROM bids;

-- code: no-window-function
-- span: LENGTH(price)
SELECT LENGTH(price) OVER (ORDER BY at) FROM bids;

-- code: unknown-function
-- span: LENGHT(channel)
-- hint: did you mean LENGTH(channel)?
SELECT LENGHT(channel) FROM bids;

-- code: not-an-aggregate
-- span: LENGTH(DISTINCT channel)
SELECT LENGTH(DISTINCT channel) FROM bids;

-- code: missing-order
-- span: LAG(price) OVER (PARTITION BY auction)
-- hint: write LAG(price) OVER (PARTITION BY auction ORDER BY bids.at)
SELECT LAG(price) OVER (PARTITION BY auction) FROM bids;

-- code: unseen-alias
-- span: twice
-- hint: write (price * 2)
SELECT price * 2 AS twice FROM bids WHERE twice > 3;

-- code: no-order-needed
-- span: SUM(price) WITHIN GROUP (ORDER BY at)
SELECT SUM(price) WITHIN GROUP (ORDER BY at) FROM bids;

-- code: type-mismatch
-- span: price + at
-- hint: bids.price * INTERVAL 1 SECOND
SELECT price + channel FROM bids WHERE price + at > 3;

-- code: type-mismatch
-- span: price
SELECT price FROM bids WHERE price;

-- code: type-mismatch
-- span: at > 5
-- hint: TIMESTAMP_MILLIS(5) takes it for milliseconds since 1970, TIMESTAMP_SECONDS(5) for seconds
SELECT price FROM bids WHERE at > 5;

-- code: type-mismatch
-- span: CASE WHEN price > 1 THEN at ELSE auction END
SELECT CASE WHEN price > 1 THEN at ELSE auction END FROM bids;

-- code: type-mismatch
-- span: SUM(channel)
SELECT SUM(channel) FROM bids;

-- code: type-mismatch
-- span: CAST(at AS BOOLEAN)
SELECT CAST(at AS BOOLEAN) FROM bids;

-- code: type-mismatch
-- span: shop.street
SELECT shop.street FROM auctions;

-- code: type-mismatch
-- span: tags['a']
SELECT tags['a'] FROM auctions;

-- code: wrong-arguments
-- span: SUBSTRING(channel)
-- hint: SUBSTRING(text, position[, length])
SELECT SUBSTRING(channel) FROM bids;

-- code: column-count
-- span: UNION ALL
SELECT price FROM bids UNION ALL SELECT auction, price FROM bids;

-- code: type-mismatch
-- span: UNION
SELECT at FROM bids UNION SELECT auction FROM bids;

-- code: column-count
-- span: auction IN (SELECT id, seller FROM auctions)
SELECT price FROM bids WHERE auction IN (SELECT id, seller FROM auctions);

-- code: column-count
-- span: (SELECT id, seller FROM auctions)
SELECT (SELECT id, seller FROM auctions) FROM bids;

-- code: column-count
-- span: (auction, bidder) IN (SELECT id FROM auctions)
SELECT price FROM bids WHERE (auction, bidder) IN (SELECT id FROM auctions);

-- code: mixed-block
-- span: auctions
-- hint: write auctions [RANGE 1 HOUR]
SELECT price FROM bids [RANGE 5 MINUTES] AS b JOIN auctions AS a ON a.id = b.auction;

-- code: mixed-block
-- span: auctions
-- hint: write auctions [RANGE 1 HOUR]
SELECT s.name FROM sellers AS s JOIN auctions AS a ON a.seller = s.id;

-- code: mixed-block
-- span: bids
-- hint: write bids [RANGE 1 HOUR]
SELECT auction FROM bids WHERE auction IN (SELECT id FROM auctions [UNBOUNDED]);

-- code: facts-need-window
-- span: bids
-- hint: write bids [RANGE 1 HOUR]
ISTREAM(SELECT auction FROM bids);

-- code: window-on-snapshot
-- span: sellers [RANGE 1 HOUR]
-- hint: write sellers
SELECT name FROM sellers [RANGE 1 HOUR];

-- code: window-on-snapshot
-- span: (SELECT auction, at FROM bids [NOW]) [RANGE 1 HOUR]
-- hint: write ISTREAM(SELECT auction, at FROM bids [NOW]) [RANGE 1 HOUR]
SELECT * FROM (SELECT auction, at FROM bids [NOW]) [RANGE 1 HOUR];

-- code: window-on-snapshot
-- span: sellers
SELECT window_start FROM TUMBLE(sellers, at, 1 MINUTE);

-- code: not-a-time
-- span: price
-- hint: write at
SELECT * FROM bids [RANGE 5 MINUTES ON price];

-- code: unknown-column
-- span: att
-- hint: did you mean at?
SELECT * FROM bids [RANGE 5 MINUTES ON att];

-- code: unknown-column
-- span: auktion
-- hint: did you mean auction?
SELECT * FROM bids [PARTITION BY auktion ROWS 3];

-- code: no-time
-- span: [ROWS 3]
SELECT * FROM categories [ROWS 3];

-- code: type-mismatch
-- span: ELEMENT_AT(tags, 'x')
-- hint: ELEMENT_AT(array, place)
SELECT ELEMENT_AT(tags, 'x') FROM auctions;

-- code: no-time
-- span: [RANGE 1 HOUR]
-- hint: write [RANGE 1 HOUR ON due]
SELECT * FROM (SELECT price, at + INTERVAL 1 HOUR AS due FROM bids) [RANGE 1 HOUR];

-- code: not-a-time
-- span: price
-- hint: write at
SELECT * FROM TUMBLE(bids, price, 10 SECONDS);

-- code: bad-window
-- span: CUMULATE(bids, at, 7 SECONDS, 1 MINUTE)
SELECT * FROM CUMULATE(bids, at, 7 SECONDS, 1 MINUTE);

-- code: unknown-column
-- span: auction
SELECT price FROM bids AS b JOIN auctions AS a USING (auction);

-- code: misplaced-subquery
-- span: EXISTS (SELECT 1 FROM people)
SELECT b.price FROM bids AS b JOIN auctions AS a ON EXISTS (SELECT 1 FROM people);

-- code: correlated-subquery
-- span: COUNT(*) IN (SELECT a.id FROM auctions [NOW] AS a WHERE a.seller < b.auction)
-- hint: compute them in a query in FROM, and use their columns
SELECT auction FROM bids [NOW] AS b GROUP BY auction HAVING COUNT(*) IN (SELECT a.id FROM auctions [NOW] AS a WHERE a.seller < b.auction) OR auction > 1;

-- code: unseen-alias
-- span: x
-- hint: write (price)
SELECT x FROM (SELECT price AS x FROM bids WHERE x > 3);

-- code: column-count
-- span: AS t(x, y, z)
SELECT t.x FROM (SELECT auction, price FROM bids) AS t(x, y, z);

-- code: column-count
-- span: VALUES (1, 2), (3)
VALUES (1, 2), (3);

-- code: type-mismatch
-- span: VALUES (1), (TRUE)
VALUES (1), (TRUE);

-- code: duplicate-name
-- span: bids
CREATE STREAM bids (a INT);

-- code: duplicate-column
-- span: a
CREATE STREAM t (a INT, a STRING);

-- code: unknown-column
-- span: b
CREATE STREAM t (a INT, PRIMARY KEY (b));

-- code: unknown-column
-- span: PROGRESS FOR aat AS aat
-- hint: write PROGRESS FOR at AS at
CREATE STREAM t (att INT, at TIMESTAMP, PROGRESS FOR aat AS aat);

-- code: not-a-time
-- span: PROGRESS FOR a AS a
-- hint: write PROGRESS FOR at AS at
CREATE STREAM t (a INT, at TIMESTAMP, PROGRESS FOR a AS a);

-- code: duplicate-promise
-- span: PROGRESS FOR at AS at - 1 SECOND
CREATE STREAM t (at TIMESTAMP, PROGRESS FOR at AS at, PROGRESS FOR at AS at - 1 SECOND);

-- code: time-needed
-- span: op
-- hint: add TIME at
CREATE TABLE t (a INT, at TIMESTAMP, op STRING, PRIMARY KEY (a)) OP op;

-- code: column-count
-- span: a
CREATE VIEW v (a, b) AS SELECT price FROM bids;

-- code: unknown-column
-- span: att
-- hint: did you mean at?
CREATE VIEW v (PROGRESS FOR att) AS SELECT price, at FROM bids;

-- code: unknown-name
-- span: bidz
-- hint: did you mean bids?
CREATE VIEW v AS SELECT price FROM bidz;

-- code: wrong-kind
-- span: DROP TABLE bids
-- hint: write DROP STREAM bids
DROP TABLE bids;

-- code: unknown-name
-- span: bidz
-- hint: did you mean bids?
DROP STREAM bidz;

-- code: unknown-name
-- span: bidz
-- hint: did you mean bids?
INSERT INTO bidz SELECT * FROM bids;

-- code: column-count
-- span: SELECT auction FROM bids
-- hint: SELECT auction, bidder, price, channel, at, seen
INSERT INTO bids SELECT auction FROM bids;

-- code: unknown-column
-- span: bider
-- hint: did you mean bidder?
INSERT INTO bids (auction, bider, at, seen) SELECT auction, bidder, at, seen FROM bids;

-- code: missing-column
-- span: bids
-- hint: feed at, too
INSERT INTO bids (auction, bidder) SELECT auction, bidder FROM bids;

-- code: duplicate-column
-- span: auction
INSERT INTO bids (auction, auction, bidder, at, seen) SELECT auction, bidder, 1, at, seen FROM bids;

-- code: facts-needed
-- span: SELECT auction, bidder, at FROM bids [NOW]
-- hint: write ISTREAM(SELECT auction, bidder, at FROM bids [NOW])
INSERT INTO bids (auction, bidder, at, seen) SELECT auction, bidder, at FROM bids [NOW];

-- code: type-mismatch
-- span: SELECT channel, bidder, at, seen FROM bids
-- hint: CAST(bids.channel AS BIGINT) AS auction
INSERT INTO bids (auction, bidder, at, seen) SELECT channel, bidder, at, seen FROM bids;

-- code: correlated-subquery
-- span: o.bidder
SELECT o.auction FROM bids AS o WHERE EXISTS (SELECT 1 FROM auctions AS a WHERE EXISTS (SELECT 1 FROM people AS p WHERE p.id = o.bidder));

-- code: correlated-subquery
-- span: o.price
SELECT (SELECT o.price + MAX(a.id) FROM auctions AS a) FROM bids AS o;

-- code: not-grouped
-- span: price
-- hint: write FIRST(price)
SELECT auction FROM bids GROUP BY auction ORDER BY price LIMIT 1;

-- code: misplaced-aggregate
-- span: SUM(b.price)
SELECT price FROM bids AS b JOIN auctions AS a ON a.id = b.auction AND SUM(b.price) > 3;

-- code: type-mismatch
-- span: COUNT(*) FILTER (WHERE price)
SELECT COUNT(*) FILTER (WHERE price) FROM bids;

-- code: wrong-arguments
-- span: ARG_MAX(price)
SELECT ARG_MAX(price) FROM bids;

-- code: type-mismatch
-- span: a.category
SELECT b.price FROM bids AS b LEFT JOIN auctions AS a ON a.id = b.auction AND a.category;

-- code: mixed-block
-- span: bids
-- hint: write bids [RANGE 1 HOUR]
SELECT name FROM sellers UNION ALL SELECT channel FROM bids;

-- code: unseen-alias
-- span: d
-- hint: write (price * 2)
SELECT price * 2 AS d, d + 1 AS e FROM bids;

-- code: correlated-subquery
-- span: a.id
SELECT a.id FROM auctions AS a WHERE EXISTS (SELECT 1 FROM (SELECT * FROM bids AS b WHERE b.auction = a.id) AS x);

-- code: ambiguous-column
-- span: at
-- hint: write `my bids`.at
SELECT at FROM bids AS `my bids` CROSS JOIN auctions;

-- code: unknown-table
-- span: `my bidz`.price
-- hint: did you mean `my bids`.price?
SELECT `my bidz`.price FROM bids AS `my bids`;

-- code: unknown-column
-- span: oder
-- hint: did you mean `order`?
SELECT x FROM (SELECT price AS `order`, at AS x FROM bids) WHERE oder > 1;

-- code: not-grouped
-- span: a.id
-- hint: group by a.id as well
SELECT COUNT(*), (SELECT MAX(b.price) FROM bids AS b WHERE b.auction = a.id) FROM auctions AS a GROUP BY a.category;

-- code: duplicate-name
-- span: r
WITH r AS (SELECT 1 AS x), r AS (SELECT 2 AS x) SELECT * FROM r;

-- code: no-order-needed
-- span: MAX(price ORDER BY at)
SELECT MAX(price ORDER BY at) AS m FROM bids [NOW];

-- code: missing-order
-- span: PERCENT_RANK() OVER (PARTITION BY auction)
-- hint: write PERCENT_RANK() OVER (PARTITION BY auction ORDER BY bids.at)
SELECT PERCENT_RANK() OVER (PARTITION BY auction) AS p FROM bids [NOW];

-- code: unknown-column
-- span: "web"
-- hint: write 'web'
SELECT price FROM bids [NOW] WHERE channel = "web";

-- code: unknown-column
-- span: "it's"
-- hint: write 'it\'s'
SELECT CONCAT(channel, "it's") AS t FROM bids [NOW];

-- code: unsupported-subquery
-- span: price > ANY (SELECT 1)
-- hint: compare with the least or the greatest: (SELECT MAX(...) ...)
SELECT price > ANY (SELECT 1) AS x FROM bids [NOW];

-- code: column-count
-- span: price > ANY (SELECT 1, 2)
SELECT price FROM bids [NOW] WHERE price > ANY (SELECT 1, 2);

-- code: unknown-function
-- span: PROCTIME()
-- hint: when a row came is a column of its stream: declare received TIMESTAMP ARRIVAL
SELECT price FROM bids [UNBOUNDED] WHERE at > PROCTIME() - INTERVAL 1 HOUR;

-- code: unknown-function
-- span: TIME_BUCKET(INTERVAL '10 minutes', at)
-- hint: write FLOOR(at TO INTERVAL '10 minutes')
SELECT TIME_BUCKET(INTERVAL '10 minutes', at) AS t FROM bids [NOW];

-- code: unknown-column
-- span: t.window_time
-- hint: write (t.window_end - INTERVAL 1 MILLISECOND)
SELECT t.window_time AS w FROM TUMBLE(bids, at, 10 MINUTES) AS t;

-- code: unknown-function
-- span: TIME_BUCKET(at)
-- hint: the form here is FLOOR(b TO a)
SELECT TIME_BUCKET(at) AS t FROM bids [NOW];

-- code: bad-path
-- span: JSON_VALUE(channel, 'price')
-- hint: '$.name[0]' is a path; UNNEST(JSON_ITEMS(json)) has a row for each item
SELECT JSON_VALUE(channel, 'price') AS x FROM bids [NOW];

-- code: type-mismatch
-- span: FROM_JSON(channel, 'ARRAY<STRUCT<a: INT>>')
-- hint: UNNEST(JSON_ITEMS(json)) has a row for each item, to take FROM_JSON of
SELECT FROM_JSON(channel, 'ARRAY<STRUCT<a: INT>>') AS x FROM bids [NOW];

-- code: type-mismatch
-- span: UNNEST(item) AS t (x)
-- hint: SPLIT(text, ',') and JSON_ITEMS(json) make arrays of texts
SELECT id, x FROM auctions [NOW], UNNEST(item) AS t (x);

-- code: column-count
-- span: UNNEST(tags) AS t (x, y)
SELECT id, x FROM auctions [NOW], UNNEST(tags) AS t (x, y);

-- code: duplicate-alias
-- span: UNNEST(tags) AS a (x)
SELECT a.id FROM auctions [NOW] AS a, UNNEST(tags) AS a (x);

-- code: unsupported-join
-- span: LEFT JOIN
-- hint: LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE keeps rows without items, and WHERE has conditions
SELECT id, tag FROM auctions [NOW] LEFT JOIN UNNEST(tags) AS t (tag) ON tag = item;

-- code: unsupported-syntax
-- span: UNNEST(tags)
-- hint: the window stands on the stream: FROM events [RANGE 1 HOUR], UNNEST(items)
SELECT id, x FROM auctions [NOW], UNNEST(tags) [NOW] AS t (x);

-- code: correlated-subquery
-- span: o.bidder
SELECT o.auction FROM bids [NOW] AS o WHERE EXISTS (SELECT 1 FROM auctions [NOW] AS a LEFT JOIN people [NOW] AS p ON p.id = o.bidder);

-- code: correlated-subquery
-- span: o.bidder
SELECT o.auction FROM bids [NOW] AS o WHERE EXISTS (SELECT 1 FROM auctions [NOW] AS a JOIN people [NOW] AS p ON p.id = o.bidder RIGHT JOIN people [NOW] AS r ON r.id = p.id);

-- code: duplicate-column
-- span: SELECT auction, price AS step FROM bids [NOW]
-- hint: give it another name with AS
SELECT auction, price AS step FROM bids [NOW];

-- code: unknown-column
-- span: ROWTIME
-- hint: write bids.at
SELECT ROWTIME FROM bids;

-- code: misplaced-aggregate
-- span: 'new' = ANY(tags)
-- hint: write ARRAY_CONTAINS(tags, 'new')
SELECT id FROM auctions [NOW] WHERE 'new' = ANY(tags);

-- code: unknown-field
-- span: EXTRACT(EPOCH FROM at)
-- hint: write (UNIX_MICROS(at) / 1000000)
SELECT EXTRACT(EPOCH FROM at) AS seconds FROM bids [NOW];

-- code: unknown-name
-- span: STREAM bids
-- hint: write bids
SELECT auction FROM STREAM bids;

-- code: now-as-value
-- span: NOW()
-- hint: compare it with a time of the row, as in WHERE at > NOW() - INTERVAL 1 HOUR
SELECT auction, NOW() AS seen FROM bids;

-- code: now-as-value
-- span: HOUR(NOW()) > 5
-- hint: compare it with a time of the row, as in WHERE at > NOW() - INTERVAL 1 HOUR
SELECT auction FROM bids WHERE HOUR(NOW()) > 5;

-- code: no-time
-- span: (SELECT item FROM auctions) AS a
SELECT item FROM (SELECT item FROM auctions) AS a WHERE NOW() > TIMESTAMP '2026-01-01 00:00:00';

-- code: misplaced-now
-- span: SELECT auction FROM bids [RANGE 1 HOUR] ORDER BY at > NOW() - INTERVAL 1 MINUTE LIMIT 3
-- hint: compute the condition in a query in FROM, as a column, and use that
SELECT auction FROM bids [RANGE 1 HOUR] ORDER BY at > NOW() - INTERVAL 1 MINUTE LIMIT 3;

-- code: misplaced-now
-- span: NOW()
-- hint: put the condition into WHERE
SELECT auction FROM bids [VALID FROM NOW()];

-- code: not-a-time
-- span: came BIGINT ARRIVAL
-- hint: write came TIMESTAMP ARRIVAL
CREATE STREAM s (id BIGINT, came BIGINT ARRIVAL);

-- code: duplicate-promise
-- span: came TIMESTAMP ARRIVAL
-- hint: leave out PROGRESS FOR came
CREATE STREAM s (id BIGINT, came TIMESTAMP ARRIVAL, PROGRESS FOR came AS came);

-- code: arrival-in-a-table
-- span: came TIMESTAMP ARRIVAL
-- hint: CREATE STREAM, or leave out ARRIVAL
CREATE TABLE t (id BIGINT, came TIMESTAMP ARRIVAL);

-- code: arrival-not-append-only
-- span: came TIMESTAMP ARRIVAL
-- hint: declare it APPEND ONLY, or leave out ARRIVAL
CREATE STREAM s (id BIGINT PRIMARY KEY, came TIMESTAMP ARRIVAL);

-- code: unknown-field
-- span: EXTRACT(EPOCH FROM at - LAG(at) OVER (PARTITION BY auction ORDER BY at))
-- hint: write CAST(at - LAG(at) OVER (PARTITION BY auction ORDER BY at) AS DECIMAL(18, 6))
SELECT EXTRACT(EPOCH FROM at - LAG(at) OVER (PARTITION BY auction ORDER BY at)) AS s FROM bids;

-- code: unknown-field
-- span: EXTRACT(EPOCH FROM LAG(at) OVER (PARTITION BY auction ORDER BY at))
-- hint: write (UNIX_MICROS(LAG(at) OVER (PARTITION BY auction ORDER BY at)) / 1000000)
SELECT EXTRACT(EPOCH FROM LAG(at) OVER (PARTITION BY auction ORDER BY at)) AS s FROM bids;

-- code: unknown-field
-- span: DATE_PART('minute', at - at)
-- hint: write (CAST(at - at AS BIGINT) DIV 60)
SELECT 2 * DATE_PART('minute', at - at) AS s FROM bids;

-- code: unknown-field
-- span: SECOND(at - at)
-- hint: write CAST(at - at AS DECIMAL(18, 6))
SELECT SECOND(at - at) AS s FROM bids;

-- code: unknown-function
-- span: DATEDIFF(SECOND, at - INTERVAL 1 DAY, at)
-- hint: write CAST(at - (at - INTERVAL 1 DAY) AS BIGINT)
SELECT DATEDIFF(SECOND, at - INTERVAL 1 DAY, at) AS s FROM bids;

-- code: unknown-function
-- span: TIMESTAMPDIFF(MONTH, at, at)
-- hint: two times are subtracted, which gives an INTERVAL: b - a
SELECT TIMESTAMPDIFF(MONTH, at, at) AS s FROM bids;

-- code: time-needed
-- span: WATERMARK FOR at AS at
-- hint: for events write CREATE STREAM t; for rows that change by their key, add TIME at
CREATE TABLE t (a INT, at TIMESTAMP, PRIMARY KEY (a), WATERMARK FOR at AS at);

-- code: unknown-name
-- span: seller
-- hint: answers go to a sink where a query starts: leave out INSERT INTO seller, and use ebbtide run --to DIR or query.start(sink=...); a stream that queries feed is declared first: CREATE STREAM seller (...)
INSERT INTO seller SELECT auction FROM bids;

-- code: not-grouped
-- span: window_end
-- hint: group by window_end as well
SELECT window_start, window_end, COUNT(*) AS n FROM TUMBLE(bids, at, 1 HOUR) GROUP BY window_start;
