// Text and bars drawn over a finished picture.
#ifndef TRIBO_RENDER_TEXT_H_
#define TRIBO_RENDER_TEXT_H_

// A picture as bytes, rows from the top.
typedef struct {
  int width, height;
  unsigned char* rgb;
} tbCanvas;

enum { TB_GLYPH_WIDTH = 6, TB_GLYPH_HEIGHT = 9 };  // pixels at scale 1, gaps included

// Fill a rectangle; what lies outside of the picture is left out.
void tb_draw_bar(const tbCanvas* canvas, int x, int y, int width, int height,
                 const unsigned char rgb[3]);

// Text with a light edge, its top left corner at (x, y), each pixel of the font scale x scale.
// Characters beyond ASCII are drawn as '?'.
void tb_draw_text(const tbCanvas* canvas, int x, int y, int scale, const char* text,
                  const unsigned char rgb[3]);

#endif
