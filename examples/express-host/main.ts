// wac inside an Express application that has its own users and sessions: `node main.ts`
import express, { type ErrorRequestHandler, type Request } from "express"
import { randomUUID } from "node:crypto"
import { createWac, memory, sandbox, WacError } from "wac"

// What the application has had all along: users, and who is signed in.
const users = [{ id: "42", email: "ana@shop.example", password: "correct horse", isAdmin: true }]
const sessions = new Map<string, typeof users[number]>()
const userOf = ({ headers: { cookie = "" } }: Request) => sessions.get(cookie.match(/session=([\w-]+)/)?.[1] ?? "")

const wac = await createWac({
  storage: memory(), // in production: postgres(process.env.DATABASE_URL!), and a masterKey
  provider: sandbox(), // in production: whatsapp({ … })
  auth: {
    // `node` is Express's own request, with all that your middleware has put on it
    session: ({ node }) => {
      const user = userOf(node as Request)
      return user && { userId: user.id, email: user.email, role: user.isAdmin ? "owner" : "member" }
    }
  },
  log: ({ error, level, message }) => level === "debug" || console.log(level, message, error ?? "")
})
wac.on("message.delivered", ({ data }) => console.log(`${data.client_reference} has arrived`))

const app = express()
app.use("/messaging", wac.nodeHandler) // before express.json(): wac reads its requests' bodies itself
app.use(express.json())

app.post("/sign-in", (request, response) => {
  const { email, password } = request.body
  const user = users.find((user) => user.email === email && user.password === password)
  if (user === undefined) return response.sendStatus(401)
  const session = randomUUID()
  sessions.set(session, user)
  return response.cookie("session", session, { httpOnly: true, sameSite: "lax" }).sendStatus(204)
})

app.post("/orders/:id/shipped", async (request, response) => {
  const { body: { name, phone }, params: { id } } = request
  const template = { name: "order_update", language: "en_US", bodyParams: [name, id] }
  // the same key whenever this runs for the same order: the customer is told once, however often it runs within 24 hours
  const idempotencyKey = `order-${id}-shipped`
  response.json(
    await wac.messages.send({ to: phone, type: "template", template, clientReference: id }, { idempotencyKey })
  )
})

const refused: ErrorRequestHandler = (error, _request, response, next) => {
  if (!(error instanceof WacError) || error.code === "server_error") return next(error)
  const { code, message, param, reason } = error
  response.status(422).json({ code, reason, param, message })
}
app.use(refused)

const port = Number(process.env.PORT ?? 3000)
const server = app.listen(port, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}`))
process.once("SIGTERM", () => {
  server.close()
  void wac.close() // at once: the server waits for requests of open dashboards, which end only with this
})
