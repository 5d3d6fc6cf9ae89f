import { z } from 'zod'

/** A reference of JSON Schema and AsyncAPI. */
export interface Ref {
  readonly $ref: string
}

/** The schemas of the document, by name. */
export class Components {
  readonly schemas: Record<string, unknown> = {}

  /**
   * Adds a schema with its definitions. AsyncAPI schemas are a superset of JSON Schema draft 07. `io`: whether the schema
   * describes requests (`input`) or messages.
   */
  add(name: string, schema: z.ZodType, io: 'input' | 'output' = 'output'): Ref {
    const made = z.toJSONSchema(schema, { io, target: 'draft-07', unrepresentable: 'any' })
    // The definitions become components, so references to them get the place of components.
    const text = JSON.stringify(made).replaceAll('"#/definitions/', `"#/components/schemas/${name}.`)
    const {
      $schema,
      id,
      definitions = {},
      ...own
    } = JSON.parse(text) as { definitions?: object; [key: string]: unknown }
    this.schemas[name] = own
    for (const [key, definition] of Object.entries(definitions)) this.schemas[`${name}.${key}`] = definition
    return { $ref: `#/components/schemas/${name}` }
  }
}
