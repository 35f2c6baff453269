SELECT DISTINCT p.id, p.name, time_bucket(INTERVAL 10 SECONDS, p.date_time)
FROM person p
WHERE EXISTS (
  SELECT * FROM auction a
  WHERE a.seller = p.id
    AND time_bucket(INTERVAL 10 SECONDS, a.date_time) = time_bucket(INTERVAL 10 SECONDS, p.date_time)
)
