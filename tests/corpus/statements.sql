-- Statements of every kind, one after the other; between any two there is an empty line.

-- windows

SELECT auction, AVG(price) AS mean FROM bids [RANGE 15 MINUTES] GROUP BY auction;

SELECT auction, AVG(price) AS mean FROM bids [RANGE 5 MINUTES SLIDE 1 MINUTE] GROUP BY auction;

SELECT COUNT(*) AS n FROM bids [FIXED 1 HOUR];

SELECT * FROM bids [ROWS 10];

SELECT MAX(price) AS highest FROM bids [ROWS 10 SLIDE 10];

SELECT bidder, AVG(price) AS mean FROM bids [PARTITION BY bidder ROWS 10] GROUP BY bidder;

SELECT * FROM bids [PARTITION BY auction, bidder ROWS 10 SLIDE 5];

SELECT * FROM bids [SESSION 10 MINUTES];

SELECT bidder, COUNT(*) AS so_far FROM bids [PARTITION BY bidder SESSION 10 MINUTES ON at] GROUP BY bidder;

SELECT * FROM bids [NOW];

SELECT auction, COUNT(*) AS n FROM bids [UNBOUNDED] GROUP BY auction;

SELECT * FROM bids [RANGE 15 MINUTES ON seen];

SELECT * FROM bids [RANGE 15 MINUTES SLIDE 30 SECONDS ON seen] AS b;

SELECT * FROM bids [FIXED 1 DAY ON at];

SELECT * FROM bids [ROWS 3 ON seen];

SELECT * FROM bids [PARTITION BY channel ROWS 3 SLIDE 3 ON seen] AS b;

SELECT * FROM bids [NOW ON at];

SELECT * FROM bids [UNBOUNDED ON seen];

SELECT b.price FROM bids [RANGE 90 SECONDS] AS b WHERE b.price > 10;

SELECT b.price FROM bids [RANGE 90 SECONDS] b;

SELECT price FROM bids[range 1 second];

SELECT * FROM bids [RANGE INTERVAL 15 MINUTES];

SELECT * FROM bids [RANGE INTERVAL '15' MINUTE];

SELECT * FROM bids [RANGE INTERVAL '1 hour 30 minutes'];

SELECT * FROM bids [RANGE 1 HOUR 30 MINUTES];

SELECT * FROM bids [RANGE INTERVAL '0 01:30:00' DAY TO SECOND];

SELECT * FROM bids [RANGE 1 WEEK];

SELECT * FROM bids [RANGE 500 MILLISECONDS SLIDE 250000 MICROSECONDS];

SELECT * FROM (SELECT * FROM bids WHERE price > 10) [RANGE 1 MINUTE] AS dear;

SELECT * FROM ISTREAM(SELECT * FROM bids [ROWS 1]) [RANGE 1 MINUTE] AS x;

SELECT * FROM (ISTREAM(SELECT * FROM bids [ROWS 1])) [RANGE 1 MINUTE ON instant] AS x;

-- functions on facts

SELECT window_start, window_end, COUNT(*) AS n FROM TUMBLE(bids, at, 10 MINUTES) GROUP BY window_start, window_end;

SELECT auction, window_end, COUNT(*) AS n FROM HOP(bids, at, 2 SECONDS, 10 SECONDS) AS h GROUP BY auction, window_end EMIT FINAL;

SELECT bidder, window_start, window_end, COUNT(*) AS n FROM SESSION(bids PARTITION BY bidder, at, 10 SECONDS) GROUP BY bidder, window_start, window_end;

SELECT window_end, SUM(price) AS total FROM CUMULATE(bids, at, 1 HOUR, 1 DAY) GROUP BY window_start, window_end;

SELECT * FROM SESSION(bids, at, INTERVAL '10' SECOND) AS s;

SELECT * FROM SESSION(bids PARTITION BY auction, bidder, at, INTERVAL 1 MINUTE) s;

SELECT t.window_start FROM TUMBLE((SELECT * FROM bids WHERE price > 10), at, INTERVAL 1 HOUR) AS t;

SELECT * FROM TUMBLE(ISTREAM(SELECT price FROM bids [ROWS 1]), instant, 1 MINUTE) AS t;

SELECT a.window_start, a.n, b.n AS m FROM (SELECT window_start, COUNT(*) AS n FROM TUMBLE(bids, at, 1 HOUR) GROUP BY window_start) AS a JOIN (SELECT window_start, COUNT(*) AS n FROM TUMBLE(auctions, at, 1 HOUR) GROUP BY window_start) AS b ON a.window_start = b.window_start;

-- windows as other systems write them

SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(at), INTERVAL '10' MINUTES)) GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;

SELECT h.auction, h.window_end FROM TABLE(HOP(TABLE bids, DESCRIPTOR(at), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES)) AS h;

SELECT bidder, window_start, COUNT(*) AS n FROM TABLE(SESSION(TABLE bids PARTITION BY bidder, DESCRIPTOR(at), INTERVAL '5' MINUTES)) GROUP BY bidder, window_start, window_end;

SELECT window_end, SUM(price) AS total FROM CUMULATE(TABLE bids, DESCRIPTOR(at), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES) GROUP BY window_start, window_end;

SELECT TUMBLE_START(at, INTERVAL '1' HOUR) AS began, TUMBLE_END(at, INTERVAL '1' HOUR) AS ended, COUNT(*) AS n FROM bids WHERE price > 1 GROUP BY TUMBLE(at, INTERVAL '1' HOUR);

SELECT b.auction, HOP_START(b.at, INTERVAL '1' MINUTE, INTERVAL '1' HOUR), MAX(b.price) AS top FROM bids AS b GROUP BY b.auction, HOP(b.at, INTERVAL '1' MINUTE, INTERVAL '1' HOUR) HAVING COUNT(*) > 1;

SELECT bidder, SESSION_START(at, INTERVAL '10' MINUTE) AS began, COUNT(*) AS n FROM bids WHERE price > 1 GROUP BY bidder, SESSION(at, INTERVAL '10' MINUTE);

SELECT window, COUNT(*) AS n FROM bids GROUP BY window(at, '10 minutes');

SELECT window.start AS began, window.end AS ended, COUNT(*) AS n FROM bids GROUP BY window(at, '10 minutes', '5 minutes');

SELECT window(at, '10 minutes') AS w, COUNT(*) AS n FROM bids GROUP BY w;

SELECT b.bidder, session_window.start AS began, COUNT(*) AS n FROM bids b WHERE b.price > 2 GROUP BY b.bidder, session_window(b.at, '5 minutes');

-- relations to streams and back

ISTREAM(SELECT * FROM bids [RANGE 1 MINUTE]);

DSTREAM(SELECT auction, COUNT(*) AS n FROM bids [RANGE 1 MINUTE] GROUP BY auction);

RSTREAM(SELECT COUNT(*) AS n FROM bids [RANGE 1 MINUTE] EVERY 10 SECONDS);

RSTREAM(SELECT * FROM bids [NOW] EVERY INTERVAL '1' MINUTE) EMIT FINAL;

ISTREAM(SELECT price FROM bids [NOW]) UNION ALL DSTREAM(SELECT price FROM bids [NOW]);

WITH dear AS (SELECT * FROM bids [RANGE 1 HOUR] WHERE price > 100) ISTREAM(SELECT * FROM dear);

WITH came AS (ISTREAM(SELECT auction, price FROM bids [ROWS 1])) SELECT * FROM came;

SELECT i.auction, i.instant FROM ISTREAM(SELECT auction, MAX(price) AS top FROM bids [FIXED 1 HOUR] GROUP BY auction) AS i WHERE i.top > 100;

SELECT COUNT(*) AS n FROM DSTREAM(SELECT * FROM bids [PARTITION BY bidder ROWS 3]) [RANGE 5 MINUTES] AS gone;

ISTREAM(SELECT * FROM bids [ROWS 5] UNION SELECT * FROM bids [ROWS 7]);

-- how a query is emitted

SELECT auction, price FROM bids EMIT CHANGES;

SELECT auction, price FROM bids EMIT CHANGES WITH FINALITY;

SELECT auction, MAX(price) AS top FROM bids [UNBOUNDED] GROUP BY auction EMIT CHANGES ALLOW UNBOUNDED STATE;

SELECT DISTINCT bidder FROM bids ALLOW UNBOUNDED STATE EMIT CHANGES;

SELECT a.id FROM auctions a WHERE NOT EXISTS (SELECT 1 FROM bids b WHERE b.auction = a.id AND b.at BETWEEN a.at AND a.at + INTERVAL 2 MINUTES) EMIT FINAL;

SELECT DISTINCT bidder FROM bids ALLOW UNBOUNDED STATE;

-- SELECT

SELECT * FROM bids;

SELECT b.* FROM bids AS b;

SELECT * EXCEPT (seen, channel) FROM bids;

SELECT DISTINCT channel FROM bids [RANGE 1 HOUR];

SELECT ALL channel FROM bids;

SELECT auction AS `the auction`, price * 2 AS twice FROM bids;

SELECT price price_of_it, price + 1 FROM bids;

SELECT 1;

SELECT 1 AS one, 'a' AS a, NULL AS nothing, TRUE AS yes, false AS no;

SELECT price FROM bids WHERE price > 10 AND channel = 'web' OR NOT price < 5;

SELECT channel, COUNT(*) AS n FROM bids [RANGE 1 HOUR] GROUP BY channel HAVING COUNT(*) > 10;

SELECT channel, COUNT(*) FROM bids [RANGE 1 HOUR] GROUP BY 1;

SELECT price > 10 AS dear, COUNT(*) AS n FROM bids [RANGE 1 HOUR] GROUP BY price > 10;

SELECT auction, price FROM bids [RANGE 1 HOUR] ORDER BY price DESC LIMIT 10;

SELECT auction, price FROM bids [RANGE 1 HOUR] ORDER BY price DESC NULLS LAST, auction ASC NULLS FIRST LIMIT 10 OFFSET 5;

SELECT auction, price AS p FROM bids [ROWS 100] ORDER BY p, 1 LIMIT 3;

SELECT price FROM bids [ROWS 100] LIMIT 3;

SELECT price FROM bids [ROWS 100] ORDER BY price LIMIT 7 OFFSET 3;

SELECT `price`, b.`at` FROM `bids` AS `b`;

SELECT `a b`.price AS `select` FROM bids AS `a b`;

SELECT /* a comment */ price -- and another
FROM bids /* and /* one inside of */ one */;

SELECT range.price, first.at FROM bids AS range, auctions AS first;

-- subqueries and WITH

SELECT d.auction FROM (SELECT auction, price FROM bids WHERE price > 10) AS d;

SELECT auction FROM (SELECT auction FROM (SELECT auction, price FROM bids) AS x) AS y;

SELECT a FROM (SELECT auction, price FROM bids) AS d (a, p);

WITH dear AS (SELECT * FROM bids WHERE price > 100) SELECT auction FROM dear;

WITH dear (a, p) AS (SELECT auction, price FROM bids WHERE price > 100), cheap AS (SELECT a FROM dear WHERE p < 200) SELECT a FROM cheap;

WITH windowed AS (SELECT * FROM bids [RANGE 1 HOUR]) SELECT channel, COUNT(*) AS n FROM windowed GROUP BY channel;

SELECT id FROM (WITH w AS (SELECT id FROM auctions) SELECT id FROM w) AS q;

SELECT auction FROM bids WHERE auction IN (SELECT id FROM auctions);

SELECT auction FROM bids WHERE auction NOT IN (SELECT id FROM auctions WHERE category = 10);

SELECT auction FROM bids AS b WHERE EXISTS (SELECT 1 FROM auctions AS a WHERE a.id = b.auction);

SELECT auction FROM bids AS b WHERE NOT EXISTS (SELECT * FROM auctions AS a WHERE a.id = b.auction AND a.at < b.at);

SELECT auction FROM bids WHERE (auction, bidder) IN (SELECT id, seller FROM auctions);

SELECT price FROM bids [RANGE 1 HOUR] WHERE price = (SELECT MAX(price) FROM bids [RANGE 1 HOUR]);

SELECT price - (SELECT AVG(b.price) FROM bids [RANGE 1 HOUR] AS b WHERE b.auction = c.auction) AS above FROM bids [RANGE 1 HOUR] AS c;

SELECT (SELECT COUNT(*) FROM categories) AS n;

SELECT auction FROM bids [NOW] AS b WHERE b.price > (SELECT AVG(price) FROM bids [RANGE 10 MINUTES]) AND b.auction IN (SELECT id FROM auctions [UNBOUNDED] WHERE category IN (10, 11));

SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v (n, letter);

SELECT * FROM (VALUES (1), (2)) AS v (n);

-- joins

SELECT b.price, a.item FROM bids [RANGE 1 HOUR] AS b JOIN auctions [RANGE 1 DAY] AS a ON b.auction = a.id;

SELECT b.price, a.item FROM bids [RANGE 1 HOUR] AS b INNER JOIN auctions [UNBOUNDED] AS a ON b.auction = a.id;

SELECT b.price, a.item FROM bids b LEFT JOIN auctions a ON b.auction = a.id AND b.at BETWEEN a.at AND a.at + INTERVAL 1 HOUR;

SELECT b.price, a.item FROM bids b LEFT OUTER JOIN auctions a ON b.auction = a.id;

SELECT b.price, a.item FROM bids b RIGHT JOIN auctions a ON b.auction = a.id;

SELECT b.price, a.item FROM bids [ROWS 5] b FULL JOIN auctions [ROWS 5] a ON b.auction = a.id;

SELECT b.price, a.item FROM bids [ROWS 5] b FULL OUTER JOIN auctions [ROWS 5] a ON b.auction = a.id;

SELECT b.price, a.item FROM bids [ROWS 5] b CROSS JOIN auctions [ROWS 5] a;

SELECT a.id FROM auctions [UNBOUNDED] AS a LEFT SEMI JOIN people [UNBOUNDED] AS p ON a.seller = p.id;

SELECT b.price, a.id FROM bids [RANGE 1 HOUR] AS b ASOF JOIN auctions [RANGE 1 HOUR] AS a MATCH_CONDITION (b.at >= a.at) ON a.id = b.auction;

SELECT b.price, a.id FROM bids [RANGE 1 HOUR] AS b ASOF LEFT JOIN auctions [RANGE 1 HOUR] AS a ON b.at > a.at AND a.id = b.auction;

SELECT a.id FROM auctions [UNBOUNDED] AS a LEFT ANTI JOIN people [UNBOUNDED] AS p ON a.seller = p.id;

SELECT id, a.item, p.name FROM auctions [UNBOUNDED] AS a JOIN people [UNBOUNDED] AS p USING (id);

SELECT id, at, a.item FROM auctions AS a FULL JOIN people AS p USING (id, at) ALLOW UNBOUNDED STATE;

SELECT b.price, a.item FROM bids [RANGE 1 HOUR] AS b, auctions [UNBOUNDED] AS a WHERE b.auction = a.id;

SELECT b.price, s.name, c.name AS category FROM bids [ROWS 1] AS b JOIN auctions [UNBOUNDED] AS a ON b.auction = a.id JOIN sellers AS s ON a.seller = s.id LEFT JOIN categories AS c ON a.category = c.id;

SELECT b.*, a.id, s.name FROM bids [ROWS 1] AS b JOIN (auctions [UNBOUNDED] AS a JOIN sellers AS s ON a.seller = s.id) ON b.auction = a.id;

SELECT b.*, c.id, s.rating FROM (bids [ROWS 1] AS b CROSS JOIN categories AS c) JOIN sellers AS s ON b.bidder = s.id;

SELECT x.price FROM bids [RANGE 1 MINUTE] AS x JOIN bids [RANGE 1 MINUTE] AS y ON x.auction = y.auction AND x.price < y.price;

SELECT b.price FROM bids AS b JOIN auctions AS a ON b.auction = a.id AND b.at >= a.at AND b.at < a.expires;

SELECT s.name, c.name AS category FROM sellers AS s, categories AS c;

-- set operations

SELECT id FROM auctions UNION ALL SELECT auction FROM bids;

SELECT id FROM auctions [ROWS 5] UNION SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 5] UNION DISTINCT SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 5] UNION MAX SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 5] EXCEPT SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 5] EXCEPT ALL SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 5] MINUS SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 5] INTERSECT SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 5] INTERSECT ALL SELECT auction FROM bids [ROWS 5];

SELECT id FROM auctions [ROWS 1] UNION ALL SELECT auction FROM bids [ROWS 1] UNION MAX SELECT bidder FROM bids [ROWS 2] EXCEPT SELECT id FROM people [ROWS 3];

SELECT id FROM auctions [ROWS 1] UNION SELECT auction FROM bids [ROWS 1] INTERSECT SELECT bidder FROM bids [ROWS 2];

(SELECT id FROM auctions [ROWS 1] UNION SELECT auction FROM bids [ROWS 1]) INTERSECT SELECT bidder FROM bids [ROWS 2];

SELECT id FROM auctions [ROWS 1] EXCEPT (SELECT auction FROM bids [ROWS 1] EXCEPT SELECT bidder FROM bids [ROWS 2]);

(SELECT id FROM auctions [ROWS 5] ORDER BY id LIMIT 3) UNION ALL (SELECT auction FROM bids [ROWS 5] ORDER BY auction LIMIT 3);

SELECT id FROM auctions [ROWS 5] UNION ALL SELECT auction FROM bids [ROWS 5] ORDER BY id LIMIT 3;

SELECT n FROM (SELECT id AS n FROM auctions [NOW] UNION ALL SELECT auction FROM bids [NOW]) AS u WHERE n > 5;

-- expressions

SELECT price + 1, price - 1, price * 2, price / 2, auction % 3, auction DIV 3, -price, +price FROM bids;

SELECT (price + 1) * 2 - -3 FROM bids;

SELECT price = 1, price == 1, price <> 1, price != 1, price < 1, price <= 1, price > 1, price >= 1, price <=> NULL FROM bids;

SELECT price IS NULL, price IS NOT NULL, price > 1 IS TRUE, price > 1 IS NOT FALSE, price > 1 IS UNKNOWN FROM bids;

SELECT price IS DISTINCT FROM 1, price IS NOT DISTINCT FROM 1 FROM bids;

SELECT price BETWEEN 1 AND 10, price NOT BETWEEN 1 AND 10 FROM bids;

SELECT auction IN (1, 2, 3), auction NOT IN (1, 2 + 3) FROM bids;

SELECT channel LIKE 'w%', channel NOT LIKE '_x', channel LIKE 'a!%' ESCAPE '!', channel ILIKE 'W%' FROM bids;

SELECT channel RLIKE '^w.*b$', NOT channel RLIKE r'\d+' FROM bids;

SELECT channel || '-' || channel FROM bids;

SELECT CASE WHEN price > 10 THEN 'dear' WHEN price > 5 THEN 'fair' ELSE 'cheap' END FROM bids;

SELECT CASE channel WHEN 'web' THEN 1 WHEN 'app' THEN 2 END AS code FROM bids;

SELECT CAST(price AS INT), CAST(price AS DECIMAL(10, 2)), TRY_CAST(channel AS BIGINT), CAST(at AS DATE), auction::STRING FROM bids;

SELECT CAST(auction AS TINYINT), CAST(auction AS SMALLINT), CAST(auction AS DOUBLE), CAST(auction AS BOOLEAN), CAST(channel AS BINARY), CAST(channel AS TIMESTAMP) FROM bids;

SELECT CAST(NULL AS ARRAY<INT>), CAST(NULL AS STRUCT<a: INT, b: ARRAY<STRING>>);

SELECT CAST(90 AS INTERVAL DAY TO SECOND), CAST(auction AS INTERVAL DAY TO SECOND) FROM bids;

SELECT CAST(channel AS INTERVAL DAY TO SECOND) FROM bids;

SELECT 5, 5L, 5S, 5Y, 1.5, 1.5D, 1.5BD, 1e3, 1.5E-3, .5;

SELECT 'single', 'it''s', 'it\'s', 'say "hi"', 'one' ' two', r'raw\n', 'tab\tnewline\n', '\u00e9';

SELECT X'1F', x'00ff';

SELECT TIMESTAMP '2026-01-01 00:00:00', DATE '2026-01-01', TIMESTAMP '2026-01-01T00:00:00Z';

SELECT INTERVAL 5 SECONDS, INTERVAL '5' SECOND, INTERVAL '5 seconds', INTERVAL 1 HOUR 30 MINUTES, INTERVAL -3 DAYS, INTERVAL '1.5' SECOND;

SELECT INTERVAL '1 02:03:04' DAY TO SECOND, INTERVAL '02:03' HOUR TO MINUTE, INTERVAL '03:04.5' MINUTE TO SECOND, INTERVAL '-1 02' DAY TO HOUR;

SELECT at + INTERVAL 5 MINUTES, at - INTERVAL '1' HOUR, at - at, 2 * INTERVAL 1 MINUTE FROM bids;

SELECT FLOOR(at TO HOUR), CEIL(at TO 20 SECONDS), FLOOR(at TO INTERVAL 20 SECONDS), CEIL(at TO DAY), CEILING(at TO MINUTE) FROM bids;

SELECT FLOOR(price), CEIL(price), CEILING(price) FROM bids;

SELECT GREATEST(at, seen), LEAST(at, seen), COALESCE(seen, at) FROM bids;

SELECT EXTRACT(HOUR FROM at), EXTRACT(YEAR FROM at), HOUR(at), DATE_FORMAT(at, 'yyyy-MM-dd') FROM bids;

SELECT TRIM(channel), TRIM(BOTH 'x' FROM channel), TRIM(LEADING 'x' FROM channel), TRIM(TRAILING 'x' FROM channel), TRIM('x' FROM channel) FROM bids;

SELECT SUBSTRING(channel, 2, 3), SUBSTR(channel, 2), SUBSTRING(channel FROM 2 FOR 3), POSITION('a' IN channel), LEFT(channel, 2), RIGHT(channel, 2) FROM bids;

SELECT IF(price > 10, 'dear', 'cheap'), NULLIF(price, 0), CONCAT(channel, 'x', channel), UPPER(channel), lower(channel), LENGTH(channel) FROM bids;

SELECT ABS(price), ROUND(price, 2), MOD(auction, 3), POWER(price, 2), SQRT(price), EXP(1), LN(price) FROM bids;

SELECT tags[0], shop.name, a.shop.city, a.tags[1] FROM auctions AS a;

SELECT ARRAY(1, 2, 3)[0], STRUCT(1 AS a, 'b' AS b), NAMED_STRUCT('a', 1), SIZE(tags), ELEMENT_AT(tags, 1) FROM auctions;

SELECT STRUCT(1 AS a).a, ARRAY(STRUCT(2 AS b))[0].b;

SELECT ~auction & 7 | 8 ^ 3 FROM bids;

SELECT REGEXP_EXTRACT(channel, '(\\w+)=(\\d+)', 2), REGEXP_REPLACE(channel, 'a', 'b'), SPLIT(channel, ',')[0] FROM bids;

SELECT NOT (price > 1 AND (price < 5 OR channel IS NULL)) FROM bids;

SELECT price > 1 AND price < 5 OR price > 10 AND NOT channel = 'web' FROM bids;

SELECT ((price)) FROM bids;

-- aggregates

SELECT COUNT(*), COUNT(price), COUNT(DISTINCT bidder), SUM(price), AVG(price), MIN(price), MAX(price) FROM bids [RANGE 1 HOUR];

SELECT SUM(DISTINCT price), COUNT(DISTINCT auction, bidder) FROM bids [RANGE 1 HOUR];

SELECT COUNT(*) FILTER (WHERE price > 10) AS dear, COUNT(DISTINCT bidder) FILTER (WHERE channel = 'web') AS web FROM bids [RANGE 1 HOUR];

SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY price) AS median, PERCENTILE_DISC(0.1) WITHIN GROUP (ORDER BY price) FILTER (WHERE price > 0) AS tenth FROM bids [RANGE 1 HOUR];

SELECT FIRST(price), LAST(price) IGNORE NULLS, FIRST_VALUE(price IGNORE NULLS), ANY_VALUE(channel), MAX_BY(channel, price), MIN_BY(channel, price) FROM bids [RANGE 1 HOUR];

SELECT STDDEV(price), VARIANCE(price), COLLECT_LIST(price), COLLECT_SET(channel), BOOL_AND(price > 1), MEDIAN(price) FROM bids [RANGE 1 HOUR];

SELECT SUM(price) / COUNT(*) + 1 AS about FROM bids [RANGE 1 HOUR] GROUP BY channel;

SELECT a.id, t.tag, t.place FROM auctions [RANGE 1 HOUR] AS a CROSS JOIN UNNEST(a.tags) WITH ORDINALITY AS t (tag, place);

SELECT id, tag FROM auctions, UNNEST(tags) AS tag WHERE tag <> 'old';

SELECT id, tag FROM auctions [NOW] LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE;

SELECT a.id, p.name FROM auctions [NOW] AS a JOIN UNNEST(a.tags) AS t (tag) ON t.tag <> a.item JOIN people [RANGE 1 HOUR] AS p ON p.id = a.seller WHERE t.tag > 'a';

SELECT id, word FROM auctions [NOW] LATERAL VIEW OUTER EXPLODE(SPLIT(item, ' ')) w AS word;

SELECT id, EXPLODE(tags) AS tag, at FROM auctions;

SELECT tag, COUNT(*) AS n FROM (SELECT tag, at FROM auctions, LATERAL UNNEST(tags) AS t (tag)) [RANGE 1 HOUR] AS d GROUP BY tag;

SELECT name, n FROM UNNEST(ARRAY(STRUCT('a' AS name, 1 AS n))) AS t (name, n);

SELECT channel, x FROM (SELECT channel, COLLECT(price) AS prices FROM bids [RANGE 1 HOUR] GROUP BY channel) AS g, UNNEST(prices) AS p (x);

SELECT auction, line ->> 'sku' AS sku FROM bids [NOW] CROSS JOIN UNNEST(JSON_ITEMS(channel -> 'lines')) AS l (line);

SELECT channel -> 'lines' -> 0 ->> 'sku' AS sku, (channel ->> 'n')::INT + 1 AS n, channel -> -1 AS last FROM bids [RANGE 1 HOUR] WHERE channel ->> 'kind' = 'web' OR channel -> (LOWER('A')) ->> 'b' || 'c' = 'xc';

SELECT auction, JSON_VALUE(channel, '$.price' RETURNING DOUBLE NULL ON EMPTY NULL ON ERROR) AS price, JSON_QUERY(channel, '$.lines') AS lines FROM bids WHERE JSON_EXISTS(channel, '$.price');

SELECT FROM_JSON(channel, 'a INT, b STRUCT<c: STRING, d: ARRAY<INT>>') AS parts, FROM_JSON(channel, 'ARRAY<INT>') AS numbers, GET_JSON_OBJECT(channel, '$["a b"][0]') AS x FROM bids [RANGE 1 HOUR];

SELECT COUNT(*) AS n FROM bids [RANGE 1 HOUR] HAVING COUNT(*) > 10;

-- OVER

SELECT auction, price, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place FROM bids [RANGE 1 HOUR];

SELECT * FROM (SELECT auction, price, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place FROM bids [RANGE 1 HOUR]) AS ranked WHERE place <= 3;

SELECT * FROM (SELECT auction, price, RANK() OVER (ORDER BY price DESC) AS place, DENSE_RANK() OVER (ORDER BY price) AS dense FROM bids [ROWS 100]) AS ranked WHERE place <= 3;

SELECT AVG(price) OVER (PARTITION BY auction ORDER BY at RANGE BETWEEN INTERVAL 5 MINUTES PRECEDING AND CURRENT ROW) AS mean FROM bids;

SELECT SUM(price) OVER (ORDER BY at ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM bids;

SELECT SUM(price) OVER (ORDER BY at ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM bids [ROWS 10];

SELECT SUM(price) OVER (ORDER BY at ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) FROM bids [ROWS 10];

SELECT SUM(price) OVER (ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), COUNT(*) OVER (ORDER BY at ROWS 5 PRECEDING) FROM bids;

SELECT MAX(price) OVER (PARTITION BY auction, channel) FROM bids [ROWS 10];

SELECT COUNT(*) OVER () FROM bids [ROWS 10];

SELECT LAG(price) OVER (PARTITION BY auction ORDER BY at), LEAD(price, 2, 0) OVER (PARTITION BY auction ORDER BY at DESC NULLS LAST) FROM bids;

SELECT SUM(price) FILTER (WHERE price > 1) OVER (PARTITION BY auction ORDER BY at) AS running FROM bids;

SELECT LAST_VALUE(price) IGNORE NULLS OVER (PARTITION BY auction ORDER BY at) FROM bids;

SELECT "price" AS "the price", "b"."at" AS "say ""hi""", b.auction AS "date" FROM "bids" [NOW] AS "b";

-- clauses that are said by others

SELECT auction, price, AVG(price) OVER w AS mean FROM bids [RANGE 1 HOUR] WINDOW w AS (PARTITION BY auction ORDER BY at ROWS 2 PRECEDING);

SELECT * FROM bids [RANGE 1 HOUR] QUALIFY ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) <= 3;

SELECT auction, COUNT(*) AS n FROM bids [RANGE 1 HOUR] GROUP BY auction QUALIFY RANK() OVER (ORDER BY n DESC) <= 5 ORDER BY n DESC, MAX(price) LIMIT 3;

SELECT DISTINCT ON (auction) auction, bidder, price FROM bids [RANGE 1 HOUR] ORDER BY auction, price DESC;

SELECT channel, auction, COUNT(*), SUM(price) AS total, GROUPING(channel) AS all_channels FROM bids [RANGE 1 HOUR] AS b GROUP BY CUBE (channel, b.auction);

SELECT channel, COUNT(*) AS n FROM bids [RANGE 1 HOUR] GROUP BY channel WITH ROLLUP ORDER BY n DESC LIMIT 3;

SELECT auction, LISTAGG(channel, '; ') WITHIN GROUP (ORDER BY price) AS channels, ARRAY_AGG(price ORDER BY at DESC, price) AS prices FROM bids [RANGE 1 HOUR] GROUP BY auction;

SELECT auction, NTILE(4) OVER (PARTITION BY auction ORDER BY price) AS quarter, PERCENT_RANK() OVER (ORDER BY price) AS share FROM bids [RANGE 1 HOUR];

SELECT auction, price FROM bids [RANGE 1 HOUR] AS b WHERE price > ALL (SELECT c.price FROM bids [RANGE 1 HOUR] AS c WHERE c.bidder = b.auction) AND price <> SOME (SELECT reserve FROM auctions [RANGE 1 DAY]);

SELECT b.auction, b.price, (SELECT c.price FROM bids [RANGE 1 HOUR] AS c WHERE c.auction = b.auction AND c.at < b.at ORDER BY c.at DESC LIMIT 1) AS before FROM bids [RANGE 1 HOUR] AS b;

SELECT s.id, (SELECT COUNT(*) FROM sellers AS o WHERE o.rating > s.rating) + 1 AS place FROM sellers AS s;

SELECT a.id, (SELECT MAX(b.price) FROM bids [RANGE 1 HOUR] AS b WHERE b.auction = a.id AND b.at BETWEEN a.at AND a.expires) AS top FROM auctions [RANGE 1 DAY] AS a;

SELECT cube, rollup, qualify_1 FROM (SELECT auction AS cube, bidder AS rollup, price AS qualify_1 FROM bids [NOW]) AS b QUALIFY RANK() OVER (ORDER BY cube) = 1;

-- CREATE STREAM

CREATE STREAM s1 (a INT);

CREATE STREAM s2 (a INT NOT NULL, b STRING COMMENT 'what it is', c DECIMAL(12, 3) NOT NULL COMMENT 'it''s money');

CREATE STREAM s3 (id BIGINT, at TIMESTAMP, PRIMARY KEY (id), PROGRESS FOR at AS at);

CREATE STREAM s4 (id BIGINT, at TIMESTAMP, PRIMARY KEY (id, at), PROGRESS FOR at AS at - INTERVAL 5 SECONDS);

CREATE STREAM s5 (id BIGINT, at TIMESTAMP, seen TIMESTAMP, PROGRESS FOR at AS at - INTERVAL '1' MINUTE, PROGRESS FOR seen AS seen);

CREATE STREAM s6 (id BIGINT, at TIMESTAMP) PROGRESS FOR at AS at - 10 SECONDS;

CREATE STREAM s7 (id BIGINT, at TIMESTAMP) FROM FILES 'data/s7' FORMAT json;

CREATE STREAM s8 (id BIGINT, at TIMESTAMP) FROM FILES 'data/s8' FORMAT csv OPTIONS (header 'true', 'sep' ';', timestampFormat = 'yyyy-MM-dd');

CREATE STREAM s9 (id BIGINT, at TIMESTAMP) FROM FILES 'data/s9' FORMAT PARQUET RETAIN 1 DAY;

CREATE STREAM s10 (id BIGINT, op STRING, at TIMESTAMP, PRIMARY KEY (id)) OP op LATE REVISE RETAIN 2 HOURS IDLE AFTER 5 MINUTES NOT BEYOND 1 HOUR;

CREATE STREAM s11 (id BIGINT, at TIMESTAMP) APPEND ONLY LATE QUARANTINE;

CREATE STREAM s12 (id BIGINT, at TIMESTAMP) NOT BEYOND INTERVAL 10 MINUTES IDLE AFTER INTERVAL '30' SECOND RETAIN INTERVAL '1 day' FROM FILES 'data' FORMAT json;

CREATE STREAM IF NOT EXISTS s13 (a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f DOUBLE, g DECIMAL(5, 1), h STRING, i BINARY, j DATE, k TIMESTAMP);

CREATE OR REPLACE STREAM s14 (a ARRAY<INT>, s STRUCT<x: INT, `y z`: STRUCT<q: ARRAY<DOUBLE>>>);

CREATE STREAM `s 15` (`select` INT, `a b` STRING, PRIMARY KEY (`a b`));

CREATE STREAM s16 (range INT, first STRING, comment STRING, time TIMESTAMP, op STRING, emit INT, `end` INT);

create stream s17 (a integer, b long, c numeric(3, 1), d byte, e short, f dec(4));

CREATE STREAM s18 (a INTERVAL DAY TO SECOND, b ARRAY<INTERVAL DAY TO SECOND>);

CREATE STREAM s19 (a VARCHAR(20), b CHAR(3), c TEXT, d CHARACTER VARYING(5), text STRING, e FLOAT, f REAL, g DOUBLE PRECISION, h FLOAT(24));

CREATE STREAM s20 (a TIMESTAMP(3), b TIMESTAMPTZ, c TIMESTAMP_LTZ(6), d TIMESTAMP(3) WITH LOCAL TIME ZONE, e TIMESTAMP WITH TIME ZONE, timestamptz TIMESTAMPTZ(0));

CREATE STREAM s21 (a ARRAY<VARCHAR(20)>, b STRUCT<text: TEXT, x: REAL>, c INT[]);

CREATE STREAM s22 (id INT PRIMARY KEY, at TIMESTAMP(3) NOT NULL, WATERMARK FOR at AS at - INTERVAL '5' SECOND);

CREATE STREAM s23 (id INT NOT NULL PRIMARY KEY COMMENT 'the key', at TIMESTAMP(3), watermark INT, key INT, `check` INT, metadata STRING, constraint INT) WATERMARK FOR at AS at;

-- CREATE TABLE

CREATE TABLE t1 (id INT, name STRING);

CREATE TABLE t2 (id INT, name STRING, PRIMARY KEY (id)) FROM FILES 'data/t2' FORMAT csv OPTIONS ('header' 'true');

CREATE TABLE t3 (id INT, name STRING, at TIMESTAMP, PRIMARY KEY (id)) TIME at;

CREATE TABLE t4 (id INT, name STRING, at TIMESTAMP, op STRING, seq BIGINT, PRIMARY KEY (id), PROGRESS FOR at AS at - INTERVAL 1 MINUTE) TIME at OP op SEQUENCE seq LIFETIME 30 DAYS;

CREATE TABLE t5 (id INT, at TIMESTAMP, PRIMARY KEY (id)) TIME at PROGRESS FOR at AS at RETAIN 1 DAY LATE REVISE IDLE AFTER 1 MINUTE NOT BEYOND 5 MINUTES;

CREATE TABLE IF NOT EXISTS t6 (id INT NOT NULL COMMENT 'the key', at TIMESTAMP, PRIMARY KEY (id)) LIFETIME 1 HOUR TIME at FROM FILES 'data/t6' FORMAT parquet;

CREATE OR REPLACE TABLE t7 (id INT);

CREATE TABLE t8 (id INT COMMENT 'the key' PRIMARY KEY NOT NULL, at TIMESTAMP, WATERMARK FOR at AS at) TIME at;

SELECT CAST(auction AS TEXT) AS a, bidder::VARCHAR AS b, CAST(price AS FLOAT) AS c, CAST(price AS DOUBLE PRECISION) AS d, CAST(channel AS TIMESTAMPTZ) AS e FROM bids [NOW];

-- PIVOT

SELECT * FROM (SELECT auction, channel, price FROM bids [RANGE 1 HOUR]) PIVOT (SUM(price) FOR channel IN ('a', 'b' AS bee)) AS p WHERE p.a > 1;

SELECT * FROM (SELECT channel, price FROM bids [RANGE 1 HOUR]) PIVOT (MAX(price) AS top, COUNT(*) FILTER (WHERE price > 1) FOR channel IN ('a', 'OR'));

-- CREATE VIEW

CREATE VIEW v1 AS SELECT * FROM bids;

CREATE VIEW v2 (a, p) AS SELECT auction, price FROM bids;

CREATE VIEW v3 (auction, at, PROGRESS FOR at) AS SELECT auction, at FROM bids;

CREATE VIEW v3k (auction) KEEP CHANGES 30 DAYS AS SELECT auction FROM bids;

CREATE VIEW v4 (PROGRESS FOR at, PROGRESS FOR seen) AS SELECT * FROM bids;

CREATE OR REPLACE VIEW v5 AS ISTREAM(SELECT auction, MAX(price) AS top FROM bids [FIXED 1 HOUR] GROUP BY auction);

CREATE VIEW IF NOT EXISTS v6 AS WITH d AS (SELECT * FROM bids WHERE price > 1) SELECT * FROM d UNION ALL SELECT * FROM bids;

CREATE MATERIALIZED VIEW v8 AS SELECT auction, COUNT(*) AS n FROM bids [RANGE 1 HOUR] GROUP BY auction;

CREATE OR REPLACE MATERIALIZED VIEW v8 AS SELECT auction, COUNT(*) AS many FROM bids [RANGE 1 HOUR] GROUP BY auction;

DROP MATERIALIZED VIEW IF EXISTS v8;

CREATE VIEW `v 7` AS (SELECT 1 AS one);

CREATE MATERIALIZED VIEW v9 AS SELECT window_end, auction, COUNT(*) AS n FROM TUMBLE(bids, at, 1 MINUTE) GROUP BY window_end, auction EMIT ON WINDOW CLOSE;

SELECT * FROM v9;

SELECT * FROM v9 EMIT CHANGES;

CREATE VIEW v10 AS SELECT auction, n FROM v9 EMIT CHANGES WITH FINALITY ON ERROR FAIL;

SELECT n FROM v10 ON ERROR QUARANTINE;

CREATE VIEW v11 AS SELECT DISTINCT bidder FROM bids ALLOW UNBOUNDED STATE ON ERROR QUARANTINE;

SELECT bidder FROM v11;

-- the others

INSERT INTO sums SELECT auction, SUM(price), MAX(at) FROM bids [RANGE 1 HOUR] GROUP BY auction;

INSERT INTO sums (auction, total) SELECT auction, SUM(price) FROM bids [RANGE 1 HOUR] GROUP BY auction EMIT FINAL;

INSERT INTO sums (SELECT auction, price, at FROM bids);

INSERT INTO TABLE sums WITH d AS (SELECT * FROM bids) SELECT auction, price, at FROM d ALLOW UNBOUNDED STATE;

INSERT INTO people (id, name, at) ISTREAM(SELECT id, name FROM sellers);

EXPLAIN SELECT auction, AVG(price) FROM bids [RANGE 15 MINUTES] GROUP BY auction;

EXPLAIN JSON SELECT * FROM bids EMIT FINAL;

EXPLAIN ISTREAM(SELECT * FROM bids [NOW]) ALLOW UNBOUNDED STATE;

SHOW STREAMS;

SHOW TABLES;

SHOW VIEWS;

SHOW QUERIES;

DROP STREAM s1;

DROP TABLE IF EXISTS t1;

DROP VIEW `v 7`;

-- NOW()

SELECT auction, price FROM bids WHERE at > NOW() - INTERVAL '5' MINUTES;

SELECT auction, COUNT(*) AS n FROM bids WHERE NOW() < at + INTERVAL 1 HOUR AND price > 10 GROUP BY auction;

SELECT id FROM auctions WHERE NOW() BETWEEN at AND expires;

SELECT auction FROM bids [RANGE 1 HOUR] WHERE price > 100 OR at > CURRENT_TIMESTAMP - INTERVAL 1 MINUTE;

SELECT auction FROM bids [RANGE 1 HOUR] WHERE NOT (NOW() - at < INTERVAL 5 MINUTES);

SELECT auction, CASE WHEN NOW() < at + INTERVAL 5 MINUTES THEN 'fresh' ELSE 'old' END AS state FROM bids [RANGE 1 HOUR];

SELECT auction, COUNT(*) AS n, COUNT(*) FILTER (WHERE at > NOW() - INTERVAL 1 MINUTE) AS last_minute FROM bids [RANGE 1 HOUR] GROUP BY auction;

SELECT at > NOW() - INTERVAL 1 MINUTE AS fresh, SUM(CASE WHEN seen < NOW() THEN 1 ELSE 2 END) AS n FROM bids [RANGE 1 HOUR] GROUP BY at > NOW() - INTERVAL 1 MINUTE;

SELECT auction, MAX(at) AS last FROM bids [RANGE 1 DAY] GROUP BY auction HAVING MAX(at) < NOW() - INTERVAL 1 HOUR;

SELECT name FROM sellers WHERE at > NOW() - INTERVAL 7 DAYS;

SELECT a.id, b.price FROM auctions AS a JOIN bids AS b ON b.auction = a.id AND b.at > NOW() - INTERVAL 1 HOUR WHERE a.at > NOW() - INTERVAL 1 DAY;

SELECT a.id, b.price FROM auctions [RANGE 1 DAY] AS a LEFT JOIN bids [RANGE 1 DAY] AS b ON b.auction = a.id AND b.at > NOW() - INTERVAL 1 HOUR;

SELECT a.id FROM auctions [RANGE 1 DAY] AS a WHERE NOT EXISTS (SELECT 1 FROM bids AS b WHERE b.auction = a.id AND b.at > NOW() - INTERVAL 1 HOUR);

SELECT auction FROM bids WHERE UNIX_SECONDS(NOW()) < UNIX_SECONDS(at) + 60 AND CURRENT_DATE = CAST(at AS DATE);

-- rows that say when they are valid

SELECT COUNT(*) AS n FROM bids [VALID FROM at TO at + INTERVAL 10 MINUTES];

SELECT auction, COUNT(*) AS n FROM bids [VALID FROM at + INTERVAL 1 MINUTE TO seen] AS b GROUP BY auction;

SELECT id FROM auctions [VALID TO expires] WHERE NOW() > at + INTERVAL 1 MINUTE;

SELECT v.id FROM (SELECT id, at, expires FROM auctions WHERE category = 3) [VALID FROM at - INTERVAL 1 HOUR TO LEAST(expires, at + INTERVAL 1 DAY) ON at] AS v;

SELECT b.price FROM bids [ALWAYS] AS b;

-- tables at the time of a fact

SELECT b.price, s.name FROM bids AS b JOIN sellers FOR SYSTEM_TIME AS OF b.at AS s ON s.id = b.bidder;

SELECT b.auction, b.price, s.name FROM bids AS b LEFT JOIN sellers FOR SYSTEM_TIME AS OF b.at AS s ON s.id = b.bidder EMIT FINAL;

SELECT s.name, COUNT(*) AS n FROM bids [RANGE 1 HOUR] AS b JOIN sellers FOR SYSTEM_TIME AS OF b.at AS s ON s.id = b.bidder GROUP BY s.name;

SELECT p.id, s.name FROM people AS p JOIN sellers FOR SYSTEM_TIME AS OF p.at AS s USING (id) JOIN categories FOR SYSTEM_TIME AS OF p.at AS c ON c.name = s.state;

SELECT b.price, a.item FROM bids [RANGE 1 HOUR] AS b ASOF JOIN auctions [RANGE 1 HOUR] AS a USING (at);

-- grids that are moved

SELECT window_start, COUNT(*) AS n FROM TUMBLE(bids, at, 1 DAY OFFSET 6 HOURS) GROUP BY window_start, window_end;

SELECT window_end, COUNT(*) AS n FROM HOP(bids, at, 1 HOUR, 1 DAY, 15 MINUTES) GROUP BY window_start, window_end;

SELECT window_end, SUM(price) AS total FROM CUMULATE(bids, at, 1 HOUR, 1 DAY OFFSET 30 MINUTES) GROUP BY window_start, window_end EMIT FINAL;

SELECT TUMBLE_START(at, INTERVAL 1 DAY, INTERVAL 6 HOURS) AS began, COUNT(*) AS n FROM bids GROUP BY TUMBLE(at, INTERVAL 1 DAY, INTERVAL 6 HOURS);
