/**
 * The receiver of all webhooks in a child process. It responds 200 as soon as it has read the body, and notes which
 * event arrived when.
 */
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import * as Child from "./Child.ts"
import type { Arrivals, Awaited, Sample } from "./Receiver.ts"
import * as Time from "./Time.ts"

/** The first request and then one in this many are kept whole. */
const sampled = 101

/** How long to keep listening for duplicates, in milliseconds. */
const linger = 300

Child.serve<null, Awaited>(() =>
  new Promise((resolve) => {
    let ids: Array<string> = []
    let times: Array<number> = []
    let samples: Array<Sample> = []
    let requests = 0
    let awaited: { readonly count: number; readonly arrived: () => void } | undefined

    const keep = (request: IncomingMessage) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () =>
        samples.push({
          path: request.url!,
          headers: request.headers as Sample["headers"],
          body: Buffer.concat(chunks).toString()
        }))
    }

    const server = createServer((request, response) => {
      if (requests++ % sampled === 0) keep(request)
      else request.resume()
      request.on("end", () => {
        ids.push(request.headers["webhook-id"] as string)
        times.push(Time.monotonic())
        response.writeHead(200, { "content-type": "text/plain", "content-length": 2 }).end("ok")
        if (awaited !== undefined && ids.length >= awaited.count) awaited.arrived()
      })
    })
    // a connection must not close while a client is about to reuse it
    server.keepAliveTimeout = 60_000

    const answer = ({ count, seconds }: Awaited): Promise<Arrivals> =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer)
          awaited = undefined
          setTimeout(() => {
            resolve({ ids, times, samples })
            ids = []
            times = []
            samples = []
            requests = 0
          }, linger)
        }
        const timer = setTimeout(end, seconds * 1000)
        awaited = { count, arrived: end }
        if (ids.length >= count) end()
      })

    server.listen(0, "127.0.0.1", () =>
      resolve({ ready: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answer }))
  })
)
