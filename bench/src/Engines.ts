/**
 * The job queues that take part, by name. Each library is only loaded in the process that uses it.
 */
import type { Engine } from "./DeliveryEngine.ts"

const engines = {
  "graphile-worker": () => import("./EngineGraphileWorker.ts"),
  "pg-boss": () => import("./EnginePgBoss.ts"),
  "BullMQ": () => import("./EngineBullMq.ts")
} satisfies { readonly [name: string]: () => Promise<{ readonly engine: Engine }> }

export type Name = keyof typeof engines

export const load = async (name: Name): Promise<Engine> => (await engines[name]()).engine
