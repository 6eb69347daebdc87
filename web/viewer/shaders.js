// The three programs of the viewer, and how they are built.

// A point is as large as the pixel it came from, seen from here: its distance from its own camera times the angle of a pixel.
const POINT_SHADERS = [`#version 300 es
layout(location = 0) in vec3 position_in_world;
layout(location = 1) in vec4 color;  // a: percentile of its confidence / 255
uniform mat4 clip_from_world;
uniform vec3 source_in_world;
uniform float size_factor;  // pixels of the canvas
uniform int coloring;       // 0 photo, 1 view, 2 confidence
uniform vec3 view_color;
out vec3 shade;
void main() {
  gl_Position = clip_from_world * vec4(position_in_world, 1.0);
  gl_PointSize = clamp(distance(position_in_world, source_in_world) * size_factor / gl_Position.w, 1.0, 48.0);
  float light = dot(color.rgb, vec3(0.3, 0.59, 0.11));
  float t = color.a * 2.55;
  vec3 ramp = clamp(vec3(3.0 * t - 1.2, 1.5 - abs(3.0 * t - 1.7), 1.4 - 2.2 * t), 0.08, 1.0);
  shade = coloring == 0 ? color.rgb : (coloring == 1 ? view_color : ramp) * (0.35 + 0.65 * light);
}`, `#version 300 es
precision mediump float;
in vec3 shade;
out vec4 pixel;
void main() { pixel = vec4(shade, 1.0); }`];

const LINE_SHADERS = [`#version 300 es
layout(location = 0) in vec3 position_in_world;
uniform mat4 clip_from_world;
void main() { gl_Position = clip_from_world * vec4(position_in_world, 1.0); }`, `#version 300 es
precision mediump float;
uniform vec3 line_color;
out vec4 pixel;
void main() { pixel = vec4(line_color, 1.0); }`];

// The corners of a photo in the order of a triangle strip: top left, top right, bottom left, bottom right.
const PHOTO_SHADERS = [`#version 300 es
layout(location = 0) in vec3 position_in_world;
uniform mat4 clip_from_world;
out vec2 place;
void main() {
  place = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = clip_from_world * vec4(position_in_world, 1.0);
}`, `#version 300 es
precision mediump float;
uniform sampler2D photo;
in vec2 place;
out vec4 pixel;
void main() { pixel = vec4(texture(photo, place).rgb, 1.0); }`];

/** {program, and every uniform's location by its name}. Throws with the compiler's words. */
function buildProgram(gl, [vertexText, fragmentText]) {
  const program = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, vertexText], [gl.FRAGMENT_SHADER, fragmentText]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const logs = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader));
    throw new Error(`shaders: ${gl.getProgramInfoLog(program)} ${logs.join(' ')}`);
  }
  const result = {program};
  for (let i = 0; i < (gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) || 0); ++i) {
    const {name} = gl.getActiveUniform(program, i);
    result[name] = gl.getUniformLocation(program, name);
  }
  return result;
}
