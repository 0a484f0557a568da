/**
 * The path at which a host mounts the routes: the part that was removed from the request's path.
 */
import { Context } from "effect"

/** `/messaging` if `/v1/messages` is served at `/messaging/v1/messages`; empty for a standalone service. */
export const MountPath = Context.Reference<string>("@wac/http/MountPath", { defaultValue: () => "" })
