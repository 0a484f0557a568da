// wac inside a Fastify application that has its own users and sessions: `node main.ts`
import { fastify } from "fastify"
import { randomUUID } from "node:crypto"
import { createWac, memory, sandbox, WacError } from "wac"

// What the application has had all along: users, and who is signed in.
const users = [{ id: "42", email: "ana@shop.example", password: "correct horse", isAdmin: true }]
const sessions = new Map<string, typeof users[number]>()
const userOf = (cookie = "") => sessions.get(cookie.match(/session=([\w-]+)/)?.[1] ?? "")

const app = fastify({ logger: { level: "warn" } })

const wac = await createWac({
  storage: memory(), // in production: postgres(process.env.DATABASE_URL!), and a masterKey
  provider: sandbox(), // in production: whatsapp({ … })
  prefix: "/messaging",
  auth: {
    session: ({ headers }) => {
      const user = userOf(headers.cookie)
      return user && { userId: user.id, email: user.email, role: user.isAdmin ? "owner" : "member" }
    }
  },
  log: ({ error, level, message }) => app.log[level]({ error }, message)
})
// before Fastify waits for requests: those of open dashboards end only with this
app.addHook("preClose", () => wac.close())

// in `onRequest`, before Fastify reads the body: wac does that itself
app.all("/messaging/*", {
  onRequest: async (request, reply) => {
    reply.hijack()
    wac.nodeHandler(request.raw, reply.raw)
  }
}, () => {})

app.post<{ Body: { email: string; password: string } }>("/sign-in", async ({ body: { email, password } }, reply) => {
  const user = users.find((user) => user.email === email && user.password === password)
  if (user === undefined) return reply.code(401).send()
  const session = randomUUID()
  sessions.set(session, user)
  return reply.header("set-cookie", `session=${session}; HttpOnly; SameSite=Lax; Path=/`).code(204).send()
})

app.post<{ Params: { id: string }; Body: { name: string; phone: string } }>("/orders/:id/shipped", async (request) => {
  const { body: { name, phone }, params: { id } } = request
  const template = { name: "order_update", language: "en_US", bodyParams: [name, id] }
  // the same key whenever this runs for the same order: the customer is told once, however often it runs within 24 hours
  const idempotencyKey = `order-${id}-shipped`
  return wac.messages.send({ to: phone, type: "template", template, clientReference: id }, { idempotencyKey })
})

app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof WacError) || error.code === "server_error") throw error // Fastify's own answer, and its log
  const { code, message, param, reason } = error
  return reply.code(422).send({ code, reason, param, message })
})

console.log(`listening on ${await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" })}`)
process.once("SIGTERM", () => app.close())
