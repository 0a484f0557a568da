/** A process that starts a PostgreSQL server, reports where it is, and stays. */
import * as PostgresServer from "../src/PostgresServer.ts"

const { data } = await PostgresServer.start("fsync=off")
process.stdout.write(`${data}\n`)
setInterval(() => {}, 60_000)
