-- The queries of the five papers that SQL can say; a time unit of theirs is a second here.

-- (1) StreamAPAS, figure 7: a range window, a filter, an aggregate by group, a map.

CREATE STREAM gen_1 (g INT, value DOUBLE, at TIMESTAMP, PROGRESS FOR at AS at);

SELECT g, total * 2 AS doubled FROM (SELECT g, SUM(value) AS total FROM gen_1 [RANGE 1 MINUTE] WHERE value > 0 GROUP BY g) AS sums;

-- (1) StreamAPAS, 3.5: minus.

CREATE STREAM r (a INT, at TIMESTAMP, PROGRESS FOR at AS at);

CREATE STREAM s (a INT, at TIMESTAMP, PROGRESS FOR at AS at);

SELECT a FROM s [RANGE 10 SECONDS] EXCEPT ALL SELECT a FROM r [RANGE 10 SECONDS];

-- (2) Nile, figures 2 and 4: the favourite items sold in the last five time units.

CREATE TABLE FavoriteItems (ItemID INT, Name STRING, PRIMARY KEY (ItemID));

CREATE STREAM sales (ItemID INT, Price DOUBLE, StoreID INT, at TIMESTAMP, PROGRESS FOR at AS at);

SELECT COUNT(*) FROM FavoriteItems FI, sales [RANGE 5 SECONDS] AS S WHERE S.ItemID = FI.ItemID;

SELECT COUNT(*) FROM FavoriteItems FI, sales [RANGE 5 SECONDS] AS S WHERE S.ItemID = FI.ItemID AND S.Price > 4;

-- (2) Nile, figure 7: the highest price in a join of two streams.

CREATE STREAM S1 (ItemId INT, Price DOUBLE, StoreID INT, at TIMESTAMP, PROGRESS FOR at AS at);

CREATE STREAM S2 (ItemId INT, Price DOUBLE, StoreID INT, at TIMESTAMP, PROGRESS FOR at AS at);

SELECT MAX(S2.Price) FROM S1 [RANGE 5 SECONDS], S2 [RANGE 5 SECONDS] WHERE S1.StoreID = S2.StoreID;

-- (3) Borealis, 4.2: quotes, and what is derived from them.

CREATE STREAM quotes (time TIMESTAMP, symbol STRING, price DOUBLE, PRIMARY KEY (time, symbol), PROGRESS FOR time AS time) RETAIN 1 DAY LATE REVISE;

SELECT symbol, window_end, AVG(price) AS average FROM TUMBLE(quotes, time, 5 MINUTES) GROUP BY symbol, window_start, window_end;

SELECT symbol, AVG(price) AS average FROM quotes [RANGE 5 MINUTES SLIDE 1 MINUTE] GROUP BY symbol;

SELECT CASE WHEN short.average > long.average THEN 'BUY' ELSE 'SELL' END AS command FROM (SELECT AVG(price) AS average FROM quotes [RANGE 1 MINUTE SLIDE 1 MINUTE] WHERE symbol = 'IBM') AS short, (SELECT AVG(price) AS average FROM quotes [RANGE 5 MINUTES SLIDE 1 MINUTE] WHERE symbol = 'IBM') AS long;

-- (3) Borealis, figure 4: two aggregates over tumbling windows of two rows.

SELECT SUM(o) AS u FROM ISTREAM(SELECT SUM(price) AS o FROM quotes [ROWS 2 SLIDE 2]) [ROWS 2 SLIDE 2] AS first;

-- (3) Borealis, 3.2.1: an archive, in order.

SELECT * FROM quotes [UNBOUNDED] WHERE symbol = 'IBM' ORDER BY time ASC LIMIT 100;

-- (4) PIPES, 2.2: where the traffic is slow; two of the twenty measuring stations.

CREATE STREAM HighwayStream1 (lane SMALLINT, speed DOUBLE, length DOUBLE, timestamp TIMESTAMP, PROGRESS FOR timestamp AS timestamp);

CREATE STREAM HighwayStream20 (lane SMALLINT, speed DOUBLE, length DOUBLE, timestamp TIMESTAMP, PROGRESS FOR timestamp AS timestamp);

SELECT sectionID FROM (SELECT AVG(speed) AS avgSpeed, 1 AS sectionID FROM HighwayStream1 [RANGE 15 MINUTES] UNION ALL SELECT AVG(speed) AS avgSpeed, 20 AS sectionID FROM HighwayStream20 [RANGE 15 MINUTES]) AS sections WHERE avgSpeed < 15;

-- (4) PIPES, 3.3 and 5.8: fixed windows, count windows, partitioned windows, max-union, strict difference.

SELECT lane, MAX(speed) FROM HighwayStream1 [FIXED 1 HOUR] GROUP BY lane;

SELECT AVG(length) FROM HighwayStream1 [ROWS 100];

SELECT lane, speed FROM HighwayStream1 [PARTITION BY lane ROWS 1];

SELECT lane FROM HighwayStream1 [RANGE 1 MINUTE] UNION MAX SELECT lane FROM HighwayStream20 [RANGE 1 MINUTE];

SELECT lane FROM HighwayStream1 [RANGE 1 MINUTE] EXCEPT SELECT lane FROM HighwayStream20 [RANGE 1 MINUTE];

-- (5) Temporal stream algebra, 5: a stream and static data.

CREATE STREAM TRaw (sid INT, time TIMESTAMP, temp DOUBLE, PROGRESS FOR time AS time);

CREATE TABLE TLoc (sid INT, area INT);

CREATE VIEW Temp (sid, time, temp, area, PROGRESS FOR time) AS SELECT t.sid, t.time, t.temp, l.area FROM TRaw AS t, TLoc AS l WHERE t.sid = l.sid;

-- (5) Tumbling windows.

CREATE STREAM AFRaw (sid INT, time TIMESTAMP, speed DOUBLE, PROGRESS FOR time AS time);

SELECT sid, CEIL(time TO 20 SECONDS) AS time, AVG(speed) AS speed FROM AFRaw GROUP BY sid, CEIL(time TO 20 SECONDS) EMIT FINAL;

-- (5) Frames.

CREATE STREAM Smoke (time TIMESTAMP, area INT, conz DOUBLE, PROGRESS FOR time AS time);

CREATE STREAM FireStart (fid INT, time TIMESTAMP, PROGRESS FOR time AS time);

CREATE STREAM FireEnd (fid INT, time TIMESTAMP, PROGRESS FOR time AS time);

SELECT fs.time AS start, fe.time AS `end`, s.area, MAX(s.conz) AS maxConz FROM FireStart AS fs, Smoke AS s, FireEnd AS fe WHERE fs.time <= s.time AND s.time <= fe.time AND fe.time - fs.time >= INTERVAL 1 MINUTE AND fs.fid = fe.fid GROUP BY fs.time, fe.time, s.area ALLOW UNBOUNDED STATE;

-- (5) Sliding windows aligned to an event, without the recursion that continues them.

SELECT s.area, f.time, AVG(s.conz) AS avgConz FROM Smoke AS s, FireStart AS f WHERE f.time - INTERVAL 10 SECONDS <= s.time AND s.time <= f.time GROUP BY s.area, f.time EMIT FINAL;

-- (5) 2, rule 1: a sensor that says nothing for 30 seconds; its time is that of the first missing message.

SELECT m.sid, m.time + INTERVAL 10 SECONDS AS time FROM TRaw AS m WHERE NOT EXISTS (SELECT 1 FROM TRaw AS n WHERE n.sid = m.sid AND n.time > m.time AND n.time <= m.time + INTERVAL 30 SECONDS) EMIT FINAL;

-- (5) 2, rule 2: an alarm unless the warden reports in time; two time lines.

CREATE STREAM detections (area INT, detected TIMESTAMP, PROGRESS FOR detected AS detected);

CREATE STREAM reports (area INT, received TIMESTAMP, PROGRESS FOR received AS received);

SELECT d.area, d.detected AS time FROM detections AS d WHERE NOT EXISTS (SELECT 1 FROM reports AS r WHERE r.area = d.area AND r.received BETWEEN d.detected AND d.detected + INTERVAL 2 MINUTES) EMIT FINAL;
