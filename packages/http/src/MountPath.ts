/**
 * Where an application that embeds us has put our routes: what was taken off the request's path before it came here.
 */
import { Context } from "effect"

/** `/messaging` when `/v1/messages` is served at `/messaging/v1/messages`; empty for a service of its own. */
export const MountPath = Context.Reference<string>("@wac/http/MountPath", { defaultValue: () => "" })
