// From the scene's JSON and bytes (README.md) to what the viewer draws.

const NUM_CLASSES = 101;  // percentiles 0 to 100
const VERTEX_BYTES = 16;  // position 3 x float32, colour 3 x uint8, percentile uint8

function bytesFromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * The vertices of one view, VERTEX_BYTES each, the most confident class first, so that a confidence threshold is a number of vertices
 * to draw: kept[p] of them at percentile p.
 */
function decodeVertices(kept, bytes) {
  const count = kept[0];
  const boxes = new Float32Array(bytes.buffer, bytes.byteOffset, 6 * NUM_CLASSES);
  const steps = new Uint16Array(bytes.buffer, bytes.byteOffset + boxes.byteLength, 3 * count);
  const colors = new Uint8Array(bytes.buffer, bytes.byteOffset + boxes.byteLength + steps.byteLength, 3 * count);
  const buffer = new ArrayBuffer(VERTEX_BYTES * count);
  const positions = new Float32Array(buffer), rgba = new Uint8Array(buffer);
  for (let percentile = NUM_CLASSES - 1, i = 0; percentile >= 0; --percentile) {
    const [x, y, z, stepX, stepY, stepZ] = boxes.subarray(6 * (NUM_CLASSES - 1 - percentile));
    for (; i < kept[percentile]; ++i) {
      positions[4 * i] = x + stepX * steps[3 * i];
      positions[4 * i + 1] = y + stepY * steps[3 * i + 1];
      positions[4 * i + 2] = z + stepZ * steps[3 * i + 2];
      rgba[16 * i + 12] = colors[3 * i];
      rgba[16 * i + 13] = colors[3 * i + 1];
      rgba[16 * i + 14] = colors[3 * i + 2];
      rgba[16 * i + 15] = percentile;
    }
  }
  return {buffer, thumbnailAt: boxes.byteLength + steps.byteLength + colors.byteLength};
}

/** The argument of Viewer.setScene. info: the parsed JSON; bytesOf(i): a Uint8Array, aligned to 4, of view i from 0. */
function decodeScene(info, bytesOf) {
  const views = info.views.map((view, index) => {
    if (!view.kept) return view;
    const bytes = bytesOf(index);
    const {buffer, thumbnailAt} = decodeVertices(view.kept, bytes);
    return {...view, vertices: buffer, thumbnailRgb: bytes.subarray(thumbnailAt)};
  });
  return {...info, views};
}

/** The same, of a document that has the elements of a scene (README.md): this page, or one that was fetched and parsed. */
function sceneOfDocument(page) {
  const text = (id) => page.getElementById(id).textContent;
  return decodeScene(JSON.parse(text('scene')), (index) => bytesFromBase64(text(`view-${index + 1}`)));
}
