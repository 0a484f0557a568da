/**
 * The address that people and providers use (contract §8 `PUBLIC_URL`).
 */
import { Context } from "effect"

export class PublicUrl extends Context.Service<PublicUrl, URL>()("@wac/http/PublicUrl") {}
