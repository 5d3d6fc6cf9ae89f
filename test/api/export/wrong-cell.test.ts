import { join } from 'node:path'
import { expect, test } from 'vitest'
import { encoderOf, RowFile } from '../../../api/operations/export/export-files.ts'
import { tempFolder } from '../../support/folders.ts'

test('an export of a value that Parquet cannot hold names the column and the formats that can', async () => {
  const encoder = encoderOf('parquet', [{ name: 'sum', type: 'integer' }])
  const file = await RowFile.open(join(tempFolder(), 'rows'), encoder)
  file.add([1e300])
  await expect(file.publish('rows.parquet')).rejects.toMatchObject({
    code: 'EXPORT_FORMAT',
    message: expect.stringMatching(/the column sum has 1e\+300.*--format csv or ndjson/),
  })
  await file.discard()
})
