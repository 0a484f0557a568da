/**
 * The content of a location message (contract §9). Defines schemas only.
 */
import { Schema } from "effect"
import * as PlainText from "../PlainText.ts"

const degrees = (most: number) => Schema.Finite.check(Schema.isBetween({ minimum: -most, maximum: most }))

/** A point on the map, with an optional name and address. */
export const LocationContent = Schema.Struct({
  latitude: degrees(90),
  longitude: degrees(180),
  name: Schema.optionalKey(PlainText.between(1, 1000)),
  address: Schema.optionalKey(PlainText.between(1, 1000))
}).annotate({ identifier: "LocationContent", description: "A geographic location." })
export type LocationContent = typeof LocationContent.Type
