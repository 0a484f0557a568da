/**
 * The job queues that take part, by name; each is loaded where it is used only.
 */
import type { Engine } from "./DeliveryEngine.ts"

const engines = {
  "graphile-worker": () => import("./EngineGraphileWorker.ts"),
  "pg-boss": () => import("./EnginePgBoss.ts"),
  "BullMQ": () => import("./EngineBullMq.ts")
} satisfies { readonly [name: string]: () => Promise<{ readonly engine: Engine }> }

export type Name = keyof typeof engines

export const load = async (name: Name): Promise<Engine> => (await engines[name]()).engine
