/**
 * Makes V8 allocate every object as young. By default, V8 learns at which places of the code objects live long, and
 * allocates further objects of these places as old. Objects that are made at the start live as long as the process, but
 * requests pass some of the same places, so V8 made their objects old too. An old object keeps all young objects that
 * it refers to until the next major collection: a send took up to twice the processor time
 * (docs/decisions/0028-wac.md).
 *
 * This module must be evaluated before the modules that make the objects; `NODE_OPTIONS` does not accept the option.
 */
import { setFlagsFromString } from "node:v8"

setFlagsFromString("--no-allocation-site-pretenuring")
