/**
 * The child process of `Load`: sends requests to a contestant with autocannon and checks each response.
 */
import autocannon from "autocannon"
import { randomUUID } from "node:crypto"
import * as Child from "./Child.ts"
import type { Job, Seen } from "./Load.ts"
import { percentile } from "./Statistics.ts"
import * as Workload from "./Workload.ts"

const run = ({ connections, expected, target, until }: Job): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const latencies: Array<number> = []
    let example = ""
    let startedAt = 0
    let answeredAt = 0
    const instance = autocannon({
      url: target.url + Workload.path,
      method: "POST",
      connections,
      ...("seconds" in until ? { duration: until.seconds } : { amount: until.sends }),
      sampleInt: 100,
      headers: Workload.headersOf(target, ""),
      requests: [{
        setupRequest: (request) => {
          request.headers!["idempotency-key"] = randomUUID()
          request.body = Workload.bodyTo(Workload.someCustomer())
          return request
        }
      }],
      verifyBody: (body) => {
        const right = body?.includes(expected) === true
        if (!right && example === "") example = String(body)
        return right
      }
    }, (error, result) => {
      if (error != null) return reject(error)
      latencies.sort((a, b) => a - b)
      resolve({
        sends: latencies.length,
        perSecond: latencies.length / (answeredAt - startedAt) * 1000,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        cutOff: "seconds" in until ? connections : 0,
        wrong: {
          status: latencies.length - (result.statusCodeStats?.["200"]?.count ?? 0),
          body: result.mismatches,
          connection: result.errors,
          example
        }
      })
    })
    instance.on("start", () => startedAt = performance.now())
    instance.on("response", (_client, _status, _bytes, latency) => {
      answeredAt = performance.now()
      latencies.push(latency)
    })
  })

Child.serve<null, Job>(() => Promise.resolve({ ready: null, answer: run }))
