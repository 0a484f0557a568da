/**
 * The child process of `Load`: sends requests to a contestant with autocannon and checks each response.
 */
import autocannon from "autocannon"
import { randomUUID } from "node:crypto"
import * as Child from "./Child.ts"
import type { Job, Seen } from "./Load.ts"
import { percentile } from "./Statistics.ts"
import * as Workload from "./Workload.ts"

const run = ({ connections, expected, handover = "Send", target, until }: Job): Promise<Seen> =>
  new Promise((resolve, reject) => {
    const call = Workload.calls[handover]
    const latencies: Array<number> = []
    let example = ""
    let startedAt = 0
    let answeredAt = 0
    const instance = autocannon({
      url: target.url + call.path,
      method: "POST",
      connections,
      ...("seconds" in until ? { duration: until.seconds } : { amount: Math.ceil(until.sends / call.messages) }),
      sampleInt: 100,
      headers: { ...Workload.headersOf(target, ""), ...call.headers },
      requests: [{
        setupRequest: (request) => {
          request.headers!["idempotency-key"] = randomUUID()
          request.body = call.body()
          return request
        }
      }],
      verifyBody: (body) => {
        const right = String(body).split(expected).length - 1 === call.messages
        if (!right && example === "") example = String(body)
        return right
      }
    }, (error, result) => {
      if (error != null) return reject(error)
      latencies.sort((a, b) => a - b)
      resolve({
        sends: latencies.length * call.messages,
        perSecond: latencies.length * call.messages / (answeredAt - startedAt) * 1000,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        cutOff: "seconds" in until ? connections * call.messages : 0,
        wrong: {
          status: latencies.length - (result.statusCodeStats?.[`${call.status}`]?.count ?? 0),
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
