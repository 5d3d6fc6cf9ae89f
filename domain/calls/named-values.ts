/**
 * By tool: the arguments that contain a name and its value. The value is redacted if the name indicates a secret.
 */
export const NAMED_VALUES: ReadonlyMap<string, { readonly name: string; readonly value: string }> = new Map([
  ['set_context', { name: 'key', value: 'value' }],
])
