import { deflateSync } from 'node:zlib'

/** A PDF with these objects. The first object is the catalogue. */
export function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts = [Buffer.from('%PDF-1.4\n')]
  const offsets: number[] = []
  let size = parts[0]!.length
  for (const [index, object] of objects.entries()) {
    offsets.push(size)
    const body = typeof object === 'string' ? Buffer.from(object, 'latin1') : object
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')])
    parts.push(part)
    size += part.length
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const count = objects.length + 1
  parts.push(
    Buffer.from(
      `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${size}\n%%EOF`,
    ),
  )
  return Buffer.concat(parts)
}

const stream = (bytes: Buffer, filter: string) =>
  Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} /Filter ${filter} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ])

/** A PDF with one page for each content, compressed `deflations` times. */
export function pdfPages(contents: readonly (string | Buffer)[], deflations = 1): Buffer {
  const filter = `[${'/FlateDecode '.repeat(deflations)}]`
  const pages = contents.flatMap((content, index) => {
    let bytes = Buffer.from(content)
    for (let time = 0; time < deflations; time++) bytes = deflateSync(bytes)
    const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * index} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`
    return [page, stream(bytes, filter)]
  })
  const kids = contents.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages,
  ])
}

export const pdfLine = (text: string): string => `BT /F1 24 Tf 72 700 Td (${text}) Tj ET`
