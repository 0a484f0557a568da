import * as Caller from "./kinds/CallerFaults.ts"
import * as Clock from "./kinds/ClockFaults.ts"
import * as Log from "./kinds/LogFaults.ts"
import * as Network from "./kinds/NetworkFaults.ts"
import * as Postgres from "./kinds/PostgresFaults.ts"
import * as Process from "./kinds/ProcessFaults.ts"
import * as Provider from "./kinds/ProviderFaults.ts"
import * as Receiver from "./kinds/ReceiverFaults.ts"

/** Every fault, in the order of the table. */
export const all = [Process, Postgres, Network, Clock, Provider, Receiver, Caller, Log].flatMap(({ all }) => all)
