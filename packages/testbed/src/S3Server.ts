/**
 * An S3 server on loopback, which keeps its objects in memory.
 */
import { startFauxqs } from "fauxqs"

/** A running server. It accepts any credentials. */
export interface S3Server {
  /** Its address, such as `http://127.0.0.1:40001`. */
  readonly endpoint: string
  /** A bucket that exists. */
  readonly bucket: string
  /** The keys of the bucket's objects, at most 1,000. */
  readonly keys: () => Promise<ReadonlyArray<string>>
  readonly stop: () => Promise<void>
}

const bucket = "files"

/** Starts a server with an empty bucket, at this port or any. */
export const start = async (port = 0): Promise<S3Server> => {
  const server = await startFauxqs({ port, host: "127.0.0.1", logger: false })
  server.createBucket(bucket)
  const endpoint = `http://127.0.0.1:${server.port}`
  return {
    endpoint,
    bucket,
    keys: async () => {
      const list = await (await fetch(`${endpoint}/${bucket}?list-type=2`)).text()
      return [...list.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!)
    },
    stop: () => server.stop()
  }
}
